"""The methods of a store, by noun, each bound to its program and run by a driver."""
