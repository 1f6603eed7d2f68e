-- include: schema
-- Whole records, and what is small of them, as they are read (read.lua).

-- rename puts our names in place of the record's into a list of fields and values.
local function rename(fields)
  if not layout.names then return fields end
  local ours = {}
  for name, theirs in pairs(layout.names) do ours[theirs] = name end
  for i = 1, #fields, 2 do
    local number, own = string.match(fields[i], OF_ONE)
    fields[i] = number and number .. (ours[own] or own) or ours[fields[i]] or fields[i]
  end
  return fields
end

-- value_of finds one field in a list of fields and values.
local function value_of(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
  return nil
end

-- record_of reads a record as a list of fields and values, or of it what is small. Of a
-- newer one v alone is told; of none, nothing.
local function record_of(key, all)
  if not all then
    local got = redis.call('HMGET', key, 'v', 'small')
    if not open_schema(got[1]) then return { 'v', newer } end
    if not got[2] then return {} end
    return { 'small', got[2], 'v', got[1] or '1' }
  end
  local fields = redis.call('HGETALL', key)
  if not open_schema(value_of(fields, 'v')) then return { 'v', newer } end
  return rename(fields)
end
