-- include: layouts
-- How records are stored, by schema (docs/deploy.md, "Upgrading"): this, layout.go, and
-- small.lua and whole.lua, which read and write them, know more than one; nothing else
-- does.
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
  if not layout.names then return name end
  local number, own = string.match(name, OF_ONE)
  if number then return number .. (layout.names[own] or own) end
  return layout.names[name] or name
end

-- is_count tells a number that can be counted to.
local function is_count(value) return #value <= 6 and string.find(value, '^%d+$') end

-- job_of reads the job's own line, and tells where it ends; nil when it is none.
local function job_of(small)
  local job, stop = layout.read_job(small, 1)
  if not job or not is_count(job.attempts) or job.hooks and not is_count(job.hooks) then return nil end
  return job, stop
end

-- one_line is a text without what ends a value or a line.
local function one_line(value)
  if string.find(value, '\t', 1, true) or string.find(value, '\n', 1, true) then return (string.gsub(value, '[\t\n]', ' ')) end
  return value
end
