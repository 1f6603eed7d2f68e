-- park lets wake-ups onto their provider's queue, or has each wait in its owner's line
-- (docs/limits.md). It decides nothing about jobs: a wake-up is a hint, and the
-- attempt is due in the store all the same.
--
-- KEYS, all in the slot of the provider:
--   1 pending  list  asynq's, of this queue
--   2 owners   zset  owners with a line, by their turn
--   3 turn     the turn that was served last
--   4, 6, …    zset  the line of a wake-up's owner: attempts, by the time they came
--   5, 7, …    hash  asynq's, of that wake-up
-- ARGV 1 window: so many may wait on the queue  2, 4, … attempt  3, 5, … owner
--
-- Answers {length of pending, owners with a line, word, word, …}; word is
--   room     enqueue it
--   parked   it waits in its owner's line now
--   waiting  it did before
--   taken    asynq has a task of this id

local pending, waiting = redis.call('LLEN', KEYS[1]), redis.call('ZCARD', KEYS[2])
local room = tonumber(ARGV[1]) - pending
local words = { pending, waiting }

local clock = redis.call('TIME')
local now = string.format('%.0f', tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000))

local came, turn = {}, nil -- the owners who have their place in this script, and the turn that is being served

local function place(line, task, attempt, owner)
  -- Nobody overtakes those who wait, were it only for the moment in which there is room.
  if waiting == 0 and room > 0 then
    if redis.call('EXISTS', task) == 1 then return 'taken' end
    room = room - 1
    return 'room'
  end
  if redis.call('EXISTS', task) == 1 then return redis.call('ZSCORE', line, attempt) and 'waiting' or 'taken' end
  if redis.call('ZADD', line, 'NX', now, attempt) == 0 then return 'waiting' end
  -- An owner who comes takes his place at the turn that is being served: he waits for
  -- nobody's past, and nobody pays for the time in which he was not there.
  if not came[owner] then
    came[owner] = true
    turn = turn or redis.call('GET', KEYS[3]) or '0'
    if redis.call('ZADD', KEYS[2], 'NX', turn, owner) == 1 then waiting = waiting + 1 end
  end
  return 'parked'
end

for i = 2, #ARGV, 2 do words[i / 2 + 2] = place(KEYS[i + 2], KEYS[i + 3], ARGV[i], ARGV[i + 1]) end
words[2] = waiting
return words
