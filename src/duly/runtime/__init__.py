"""The room that touches the world's time and luck, and the small machinery that every loop shares."""
