-- include: schema
-- The field small: all of its lines, read and written (schema.lua).

-- printed are the numbers that most attempts, versions and revisions have: to print one
-- takes Lua as long as ten steps of its own.
local printed = { '1', '2', '3', '4', '5' }

-- digits is a number as text; a text it leaves as it is.
local function digits(n) return printed[n] or tostring(n) end

-- read_small gives the job's values, those of its attempts and deliveries by what their
-- lines begin with (a number for an attempt), and the operations that are remembered.
-- nil: somebody has written into it by hand, and it cannot be read.
local function read_small(small)
  local rows, ops = {}, {}
  local job, stop = job_of(small)
  if not job then return nil end
  while stop <= #small do
    local start = stop + 1
    if string.sub(small, start, start + 1) == 'o=' then
      stop = string.find(small, '\n', start, true) or #small + 1
      ops[#ops + 1] = string.sub(small, start, stop - 1)
    else
      local tag, at = string.match(small, '^(h?%d+)\t()', start)
      if not tag then return nil end
      local n = tonumber(tag)
      local row
      row, stop = (n and layout.read_attempt or layout.read_delivery)(small, at)
      if not row then return nil end
      rows[n or tag] = row
    end
  end
  return job, rows, ops
end

-- small_of writes what read_small reads. Numbers are whole, and below 10^14, up to where
-- Lua prints them digit by digit: see small() in record.lua.
local function small_of(job, rows, ops)
  local small = layout.write_job(job)
  for n = 1, tonumber(job.attempts) do
    if rows[n] then small = small .. '\n' .. digits(n) .. '\t' .. layout.write_attempt(rows[n]) end
  end
  for h = 1, tonumber(job.hooks) or 0 do
    local tag = 'h' .. digits(h)
    if rows[tag] then small = small .. '\n' .. tag .. '\t' .. layout.write_delivery(rows[tag]) end
  end
  if #ops > 0 then small = small .. '\n' .. table.concat(ops, '\n') end
  return small
end
