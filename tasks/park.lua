-- park lets a wake-up onto its provider's queue, or has it wait in its owner's line
-- (docs/limits.md). It decides nothing about jobs: a wake-up is a hint, and the
-- attempt is due in the store all the same.
--
-- KEYS, all in the slot of the provider:
--   1 pending  list  asynq's, of this queue
--   2 owners   zset  owners with a line, by their turn
--   3 line     zset  this owner's attempts, by the time they came
--   4 turn     the turn that was served last
--   5 task     hash  asynq's, of this wake-up
-- ARGV 1 attempt  2 owner  3 window: so many may wait on the queue
--
-- Answers {word, length of pending, owners with a line}; word is
--   room     enqueue it
--   parked   it waits in its owner's line now
--   waiting  it did before
--   taken    asynq has a task of this id

local pending, waiting = redis.call('LLEN', KEYS[1]), redis.call('ZCARD', KEYS[2])
local function answer(word) return { word, pending, waiting } end

if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return answer('waiting') end
if redis.call('EXISTS', KEYS[5]) == 1 then return answer('taken') end
-- Nobody overtakes those who wait, were it only for the moment in which there is room.
if waiting == 0 and pending < tonumber(ARGV[3]) then return answer('room') end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
redis.call('ZADD', KEYS[3], string.format('%.0f', now), ARGV[1])
-- An owner who comes takes his place at the turn that is being served: he waits for
-- nobody's past, and nobody pays for the time in which he was not there.
if redis.call('ZADD', KEYS[2], 'NX', redis.call('GET', KEYS[4]) or '0', ARGV[2]) == 1 then waiting = waiting + 1 end
return answer('parked')
