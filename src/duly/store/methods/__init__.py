"""The transactions of a store, each written once for all dialects (see ``duly.store``)."""
