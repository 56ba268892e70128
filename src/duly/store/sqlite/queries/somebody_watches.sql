SELECT until > :now, wanted FROM duly_watch
