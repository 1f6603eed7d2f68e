-- take hands out what is overdue in one partition (design §4). Moving an entry's
-- time on is taking the turn: of several sweepers each entry goes to one.
--
-- KEYS 1 due
-- ARGV 1 at most this many  2 prefix of the partition's keys
--      3 turn, ms: when an entry comes up again if nobody deals with it
--      4 wake_first, ms  5 wake_most, ms: the waits between wake-ups of one
--        attempt double from the first to the most
--
-- Answers a list of {kind, job id, number, tries, provider}; tries counts
-- the wake-ups made for the attempt so far, this one included.

local DUE, PREFIX = KEYS[1], ARGV[2]
local turn, first, most = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function text(number) return string.format('%.0f', number) end

-- wake counts a wake-up and returns its number and the wait before the next;
-- nil when the attempt has been started meanwhile or its record is gone.
local function wake(id, n)
  local attempts = PREFIX .. 'attempts:' .. id
  if redis.call('HGET', attempts, n .. '.state') ~= 'starting' then return nil end
  local tries = redis.call('HINCRBY', attempts, n .. '.wakes', 1)
  return tries, math.min(most, first * 2 ^ (tries - 1))
end

local taken = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', DUE, '-inf', text(now), 'LIMIT', 0, ARGV[1])) do
  local kind, id, n = string.match(member, '^(%w+):([^:]+):(.+)$')
  local tries, wait, provider = 0, turn, ''
  if kind == 'wake' then
    tries, wait = wake(id, n)
    provider = redis.call('HGET', PREFIX .. 'attempts:' .. id, n .. '.provider') or ''
  end
  if kind and tries then
    redis.call('ZADD', DUE, text(now + wait), member)
    taken[#taken + 1] = { kind, id, n, text(tries), provider }
  else
    redis.call('ZREM', DUE, member)
  end
end
return taken
