SELECT schema FROM duly_meta
