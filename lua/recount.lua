-- include: schema
-- recount compares how many open jobs of each owner a partition has by its count
-- (settle.lua) with how many there are by its indexes (I11). With repair the count
-- follows the indexes. Its cost grows with the open jobs of the partition.
--
-- KEYS 1 open   hash  owner hash → jobs that have not ended
-- ARGV 1 repair: 1 or 0
--
-- Answers a list of {owner hash, as counted, as there are}; an empty one where an
-- open job is of a newer schema, for whose it is cannot be told.

local OPEN, repair = KEYS[1], ARGV[1] == '1'
local PREFIX = string.sub(OPEN, 1, -5)

local there = {}
for _, state in ipairs({ 'queued', 'running', 'unknown' }) do
  for _, id in ipairs(redis.call('ZRANGE', PREFIX .. 'state:' .. state, 0, -1)) do
    local name = PREFIX .. 'job:' .. id
    local got = redis.call('HMGET', name, 'v', 'small')
    if not open_schema(got[1]) then return {} end
    local job = job_of(got[2] or '')
    local owner = job and job.owner_hash
    if owner then there[owner] = (there[owner] or 0) + 1 end
  end
end

local counted, flat = {}, redis.call('HGETALL', OPEN)
for i = 1, #flat, 2 do counted[flat[i]] = tonumber(flat[i + 1]) end

local wrong = {}
local function compare(owner)
  local is, says = there[owner] or 0, counted[owner] or 0
  if is == says then return end
  wrong[#wrong + 1] = { owner, says, is }
  if repair and is == 0 then redis.call('HDEL', OPEN, owner) end
  if repair and is > 0 then redis.call('HSET', OPEN, owner, string.format('%.0f', is)) end
end
for owner in pairs(there) do compare(owner) end
for owner in pairs(counted) do
  if not there[owner] then compare(owner) end
end
return wrong
