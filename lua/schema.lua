-- include: schemas
-- The schema of stored records: the one place that knows more than one of them
-- (docs/deploy.md, "Upgrading").
--
-- A record keeps the schema it was submitted with for its whole life, so that a job
-- is never changed under the hands of an older worker. Field v of the job says which;
-- schema 1 has none, so a record pays nothing for it. v keeps its name and meaning in
-- every schema, and so do the trail (events, e<k>), the names of keys and the entries
-- of due: what is left alone must at least be recognised.
--
-- Verbs and Go have one name for a field, whatever record it is in. What is stored
-- otherwise is translated here, on the way in and out.

local renamed -- NAMES of the record that is spoken of; nil: there are none
local newer -- its schema, when that is newer than ours

-- open_schema makes stored() and the rest speak of records of a schema, given as v
-- says it; false when it is newer, and nothing of the record can be relied on.
local function open_schema(v)
  local names = NAMES[tonumber(v or '1')]
  renamed, newer = nil, nil
  if not names then
    newer = v
    return false
  end
  if next(names) then renamed = names end
  return true
end

local OF_ONE = '^(h?%d+)(%..+)$' -- a field of an attempt or a delivery

-- stored is what the record calls a field.
local function stored(name)
  if not renamed then return name end
  local number, own = string.match(name, OF_ONE)
  if number then return number .. (renamed[own] or own) end
  return renamed[name] or name
end

-- rename puts our names in place of the record's into a list of fields and values.
local function rename(fields)
  if not renamed then return fields end
  local ours = {}
  for name, theirs in pairs(renamed) do ours[theirs] = name end
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

-- record_of reads a record by our names: {what is small of it, what is large}. Of a
-- newer one v alone is told; of none, nothing.
local function record_of(small, large)
  local fields = redis.call('HGETALL', small)
  if not open_schema(value_of(fields, 'v')) then return { { 'v', newer }, {} } end
  return { rename(fields), large and rename(redis.call('HGETALL', large)) or {} }
end
