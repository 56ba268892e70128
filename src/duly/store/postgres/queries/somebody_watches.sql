SELECT until > :now::bigint, wanted FROM duly_watch
