SELECT until > :now::bigint, wanted FROM duly.duly_watch
