-- include: small
-- take hands out what is overdue in one partition (design §4). Moving an entry's
-- time on is taking the turn: of several sweepers each entry goes to one, and
-- comes up again if nobody deals with it.
--
-- KEYS 1 due
-- ARGV 1 at most this many
--
-- Answers a list of {kind, job id, last part, tries, provider, owner}; tries counts
-- how often the entry was handed out for its attempt, this time included, where the
-- kind counts; owner is a wake-up's, by its hash. What is due of records of a newer
-- schema is left to newer sweepers: how many entries those were is told in place of
-- the tries by one of kind `newer`.

local DUE = KEYS[1]
local PREFIX = string.sub(DUE, 1, -4)
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function text(number) return string.format('%.0f', number) end

local TURN = 5000 -- ms until an entry comes up again
local LEAVE = 1000 -- ms until one does that is not ours: it must not keep back what is behind it

-- Kinds that come up again and again, less and less often: the wait doubles from
-- first to most, ms. They are dropped when the attempt is not in the state they
-- are for, or after so many tries.
local KINDS = {
  wake = { counter = 'wakes', state = 'starting', first = 30000, most = 600000 },
  lookup = { counter = 'lookups', state = 'unknown', first = 2000, most = 300000, next = 'lookup_at' },
  cancel = { counter = 'cancels', first = 5000, most = 60000, tries = 20 },
  webhook = { counter = 'wakes', state = 'pending', first = 10000, most = 600000 },
}

-- again counts and tells the tries and the wait; nil when the entry is of no use
-- any more.
local function again(kind, row)
  if not row or (kind.state and row.state ~= kind.state) then return nil end
  local tries = (tonumber(row[kind.counter]) or 0) + 1
  row[kind.counter] = tries
  if kind.tries and tries > kind.tries then return nil end
  local wait = math.min(kind.most, kind.first * 2 ^ math.min(tries - 1, 30))
  if kind.next then row[kind.next] = text(now + wait) end
  return tries, wait
end

local taken, left = {}, 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', DUE, '-inf', text(now), 'LIMIT', 0, ARGV[1])) do
  local name, id, last = string.match(member, '^(%w+):([^:]+):(.+)$')
  local name_of_job = PREFIX .. 'job:' .. (id or '')
  local got = redis.call('HMGET', name_of_job, 'v', 'small')
  local ours = open_schema(got[1])
  local tries, wait, provider, owner, damaged = 0, TURN, '', '', false
  if ours and KINDS[name] then
    tries = nil
    if got[2] or redis.call('EXISTS', name_of_job) == 1 then
      local job, rows, ops = read_small(got[2] or '')
      local row = job and rows[tonumber(last) or last]
      tries, wait = again(KINDS[name], row)
      if tries then redis.call('HSET', name_of_job, 'small', small_of(job, rows, ops)) end
      provider, damaged = row and row.provider or '', not job
      if job and name == 'wake' then owner = job.owner_hash end
    end
  end
  if not ours then
    left = left + 1
    redis.call('ZADD', DUE, text(now + LEAVE), member)
  elseif damaged then
    redis.call('ZADD', DUE, text(now + TURN), member) -- onejob fsck speaks of it
  elseif name and tries then
    redis.call('ZADD', DUE, text(now + wait), member)
    taken[#taken + 1] = { name, id, last, text(tries), provider, owner }
  else
    redis.call('ZREM', DUE, member)
    if name == 'webhook' then redis.call('ZREM', PREFIX .. 'webhooks', member) end
  end
end
if left > 0 then taken[#taken + 1] = { 'newer', '', '', text(left), '', '' } end
return taken
