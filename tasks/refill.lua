-- refill takes attempts out of the owners' lines, in turns, as many as there is room
-- for on the provider's queue. Whoever calls it enqueues them.
--
-- Turns are start times of fair queueing: the lowest is served, and moves on by one
-- over the owner's share. So of two owners with a line each gets as many calls as his
-- share says, however long the lines are.
--
-- KEYS, all in the slot of the provider:
--   1 pending  list  asynq's, of this queue
--   2 owners   zset  owners with a line, by their turn
--   3 turn     the turn that was served last
-- ARGV 1 window: so many may wait on the queue  2 what the owners' lines begin with
--      3, 4, …: an owner, his share; who is not named has a share of 1
--
-- Answers {length of pending, owners with a line, owner, attempt, owner, attempt, …}.

-- What is taken of an owner's line is written once, however many that are.

local room, lines = tonumber(ARGV[1]), ARGV[2]
local shares = {}
for i = 3, #ARGV, 2 do shares[ARGV[i]] = tonumber(ARGV[i + 1]) end

local pending = redis.call('LLEN', KEYS[1])
local answer = { pending, 0 }
room = room - pending

-- Whoever is served in so many turns is among so many owners at the head, for those are
-- before all others until they have been served. Who has been served stands behind those
-- of his share who were served before him: so every list is in order, and only their
-- first ones need be compared.
local head, behind = { next = 1 }, {}
local queues = { head }

-- look reads more owners, those at the head first.
local function look(more)
  local owners = redis.call('ZRANGE', KEYS[2], #head, #head + more - 1, 'WITHSCORES')
  for i = 1, #owners, 2 do head[#head + 1] = { owner = owners[i], turn = tonumber(owners[i + 1]), taken = 0 } end
end
if room > 0 then look(room) end

-- first takes the owner whose turn it is out of his list.
local function first()
  local from
  for _, queue in ipairs(queues) do
    local one = queue[queue.next]
    if one and (not from or one.turn < from[from.next].turn) then from = queue end
  end
  if not from then return nil end
  from.next = from.next + 1
  return from[from.next - 1]
end

-- again has an owner wait for his next turn.
local function again(one)
  local share = shares[one.owner] or 1
  one.turn = one.turn + 1 / share
  if not behind[share] then
    behind[share] = { next = 1 }
    queues[#queues + 1] = behind[share]
  end
  table.insert(behind[share], one)
end

-- next_of gives the next attempt of an owner's line, of which it reads a part at a time.
local part = math.ceil(room / #head)
local served = {}
local function next_of(one)
  if not one.line then served[#served + 1] = one end
  if not one.line or one.read == #one.line then
    one.line, one.read = redis.call('ZRANGE', lines .. one.owner, one.taken, one.taken + part - 1), 0
  end
  one.read = one.read + 1
  return one.line[one.read]
end

local LOST = 1000 -- lines that one run has patience with

local turn, lost = nil, 0
while room > 0 do
  local one = first()
  if not one then break end
  local attempt = next_of(one)
  if attempt then
    answer[#answer + 1] = one.owner
    answer[#answer + 1] = attempt
    turn, room = one.turn, room - 1
    one.taken = one.taken + 1
    again(one)
  elseif one.taken == 0 and lost < LOST then
    look(1) -- his line was lost: another comes to the head in his place
    lost = lost + 1
  end
end

for _, one in ipairs(served) do
  local line = lines .. one.owner
  if one.taken > 0 then redis.call('ZREMRANGEBYRANK', line, 0, one.taken - 1) end
  if redis.call('EXISTS', line) == 1 then
    redis.call('ZADD', KEYS[2], string.format('%.17g', one.turn), one.owner)
  else
    redis.call('ZREM', KEYS[2], one.owner)
  end
end

answer[2] = redis.call('ZCARD', KEYS[2])
if answer[2] == 0 then
  redis.call('DEL', KEYS[3])
elseif turn then
  redis.call('SET', KEYS[3], string.format('%.17g', turn))
end
return answer
