"""What happens inside a child process: each file has ``main``, whose arguments and answer are plain JSON."""
