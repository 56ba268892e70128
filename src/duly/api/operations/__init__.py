"""What can be asked of duly, one function each: plain values in, the answer as a plain dictionary out.

They raise ``DulyError``; ``duly.api.problems`` says what that is over HTTP. Nothing here imports a web framework, so
the command line calls them too, on a store of its own.
"""
