"""The REST API.

    bytes --reading.py--> value --bodies.py--> struct --arguments.py--> the app's words --answers.py--> bytes

``operations`` is what can be asked, without any framework: the routes call it, and so does the command line when it
works on a store. ``application.py`` alone knows the web framework, and uses it as a router and nothing more.
"""
