"""codexmem behind the memory interfaces of other libraries; each module needs the library that it is named after."""
