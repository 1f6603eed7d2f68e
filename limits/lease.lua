-- lease takes requests of an owner ahead, for one process, out of what all of them
-- share: the generic cell rate algorithm. The key holds the time (µs) at which the
-- owner is quits: every request moves it on by one interval, and it may lie ahead of
-- now by as many intervals as a burst has requests.
--
-- KEYS 1 quits     string
-- ARGV 1 requests per second  2 burst  3 how many are wanted
--
-- Answers {how many there are, µs until there is one again if there is none}.

local rate, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local interval = 1000000 / rate

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local quits = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))

-- A thousandth of a request is lent, for times are not exact.
local room = math.floor((now - quits) / interval + burst + 0.001)
if room < 1 then return { 0, math.ceil(quits - now - (burst - 1) * interval) } end

local granted = math.min(room, wanted)
quits = quits + granted * interval
redis.call('SET', KEYS[1], string.format('%.3f', quits), 'PX', math.ceil((quits - now) / 1000) + 1)
return { granted, 0 }
