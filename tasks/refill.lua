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

local window, lines = tonumber(ARGV[1]), ARGV[2]
local shares = {}
for i = 3, #ARGV, 2 do shares[ARGV[i]] = tonumber(ARGV[i + 1]) end

local pending = redis.call('LLEN', KEYS[1])
local answer = { pending, 0 }
for _ = 1, window - pending do
  local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  local owner, turn = first[1], first[2]
  if not owner then break end
  local line = lines .. owner
  local attempt = redis.call('ZPOPMIN', line)[1]
  if attempt then
    answer[#answer + 1] = owner
    answer[#answer + 1] = attempt
    redis.call('SET', KEYS[3], turn)
  end
  if redis.call('EXISTS', line) == 1 then
    redis.call('ZADD', KEYS[2], string.format('%.17g', tonumber(turn) + 1 / (shares[owner] or 1)), owner)
  else
    redis.call('ZREM', KEYS[2], owner)
  end
end

answer[2] = redis.call('ZCARD', KEYS[2])
if answer[2] == 0 then redis.call('DEL', KEYS[3]) end
return answer
