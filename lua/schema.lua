-- include: layouts
-- How records are stored, by schema: the one place that knows more than one of them
-- (docs/deploy.md, "Upgrading").
--
-- A record is one hash:
--   small     all that is small of the job, its attempts and its deliveries, as text
--   input, params, metadata, webhook_url, result, error_message, <n>.error, <n>.usage,
--   <n>.handle, h<h>.error    what may be long
--   e<k>      the trail, a line each
--   v         the schema; missing: 1
--
-- One text instead of thirty fields, for a verb reads all of it and writes most of it,
-- and beside a long value every field would be an entry of its own in Redis's tables. The
-- first line of it is the job's, those after it begin with whose they are: `<n>` an
-- attempt's, `h<h>` a delivery's, `o=` an operation's that is remembered. In a line values
-- stand in the order of the schema's columns (layout.go), tabs between them; what is not
-- there is empty.
--
-- A record keeps the schema it was submitted with for its whole life, so that a job is
-- never changed under the hands of an older worker. v keeps its name and meaning in
-- every schema, and so do the trail, the names of keys and the entries of due: what is
-- left alone must at least be recognised. Verbs and Go have one name for a field,
-- whatever record it is in.

local layout -- of the record that is spoken of
local newer -- its schema, when that is newer than ours

-- open_schema makes all below speak of records of a schema, given as v says it; false
-- when it is newer, and nothing of the record can be relied on.
local function open_schema(v)
  layout, newer = LAYOUTS[tonumber(v or '1')], nil
  if not layout then newer = v end
  return layout ~= nil
end

local OF_ONE = '^(h?%d+)(%..+)$' -- a field of an attempt or a delivery

-- stored is what the record calls a field of its own.
local function stored(name)
  if not next(layout.names) then return name end
  local number, own = string.match(name, OF_ONE)
  if number then return number .. (layout.names[own] or own) end
  return layout.names[name] or name
end

-- rename puts our names in place of the record's into a list of fields and values.
local function rename(fields)
  if not next(layout.names) then return fields end
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

-- job_of reads the job's own line; nil when it is none.
local function job_of(small)
  local stop = string.find(small, '\n', 1, true)
  local job = layout.job.read(stop and string.sub(small, 1, stop - 1) or small)
  if not job or not tonumber(job.attempts) then return nil end
  return job, stop
end

-- read_small gives the job's values, those of its attempts and deliveries by what their
-- lines begin with (a number for an attempt), and the operations that are remembered.
-- nil: somebody has written into it by hand, and it cannot be read.
local function read_small(small)
  local rows, ops = {}, {}
  local job, stop = job_of(small)
  if not job then return nil end
  while stop do
    local start = stop + 1
    stop = string.find(small, '\n', start, true)
    local line = string.sub(small, start, (stop or 0) - 1)
    local tag = string.match(line, '^%w+') or ''
    if tag == 'o' then
      ops[#ops + 1] = line
    else
      local n = tonumber(tag)
      local row = (n and layout.attempt or layout.delivery).read(string.sub(line, #tag + 2))
      if not row then return nil end
      rows[n or tag] = row
    end
  end
  return job, rows, ops
end

-- small_of writes what read_small reads. Numbers are whole, and below 10^14, up to where
-- Lua prints them digit by digit: see small() in record.lua.
local function small_of(job, rows, ops)
  local lines = { layout.job.write(job) }
  for n = 1, tonumber(job.attempts) do
    if rows[n] then lines[#lines + 1] = string.format('%d\t', n) .. layout.attempt.write(rows[n]) end
  end
  for h = 1, tonumber(job.hooks) or 0 do
    local tag = string.format('h%d', h)
    if rows[tag] then lines[#lines + 1] = tag .. '\t' .. layout.delivery.write(rows[tag]) end
  end
  for i = 1, #ops do lines[#lines + 1] = ops[i] end
  return table.concat(lines, '\n')
end

-- one_line is a text without what ends a value or a line.
local function one_line(value)
  if string.find(value, '%c') then return (string.gsub(value, '%c', ' ')) end
  return value
end
