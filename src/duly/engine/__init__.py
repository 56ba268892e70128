"""The engine of one instance: loops that fire, claim, run, settle, recover and tidy.

Every loop is thin: its ``run_once`` is a store call or two around pure rules. The store's transactions decide every
race, so any number of instances may run all of this at once.
"""
