-- The schemas that are read and written here, 1 to lua.Schema: what they call things.

-- NAMES[v][name] is what a record of schema v calls a field that has another name
-- here; `.name` is one of an attempt or a delivery.
local NAMES = { {} }

-- OPENING[v] is what a record of schema v begins with besides: v, and fields that
-- older ones lack.
local OPENING = { {} }
