SELECT schema FROM duly.duly_meta
