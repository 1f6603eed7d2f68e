-- include: settle
-- rewind is asked by every process that meets a server it has not met before, and
-- deals with a partition that went back in time (design §3). Every attempt that is
-- starting or running may have been called in the future that was lost: all become
-- unknown, in this one script, before any other verb of the process runs.
--
-- The first to meet a server writes down the seq it began with, so that what others
-- write meanwhile does not hide from the rest that something was lost.
--
-- KEYS 1 is not used here; the jobs are found through the state indexes.
-- ARGV 5 the highest seq the process was given before; 0: none
--      6 how far seq jumps, so that this is done once, whoever notices
--      7 id of the server as it is now
--      8 seen: 1 when the process was just answered a lower seq than it knows
--
-- Answers {not_lower, seq begun with} | {rewound, attempts made unknown, jobs looked
-- at, seq begun with}.

local known, jump, server, seen = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8] == '1'
local BASE = PREFIX .. 'base'

local found = tonumber(redis.call('GET', SEQ) or '0')
local met, base = string.match(redis.call('GET', BASE) or '', '^(%S+) (%d+)$')
base = tonumber(base)
if met ~= server then
  base = found
  redis.call('SET', BASE, server .. ' ' .. text(base))
end
if seen then base = math.min(base, found) end
if known <= base then return { 'not_lower', text(base) } end
redis.call('SET', SEQ, text(math.max(found, known) + jump))
redis.call('SET', BASE, server .. ' ' .. text(math.max(found, known) + jump))
redis.call('INCR', PREFIX .. 'epoch')

local suspected, looked = 0, 0

local function suspect(n)
  local from = states[n]
  move_attempt(n, 'unknown')
  set_attempt(n, 'reason', 'store_rewound')
  set_attempt(n, 'unknown_at', now)
  set_attempt(n, 'effect', 'unknown')
  -- An attempt that was never claimed as far as this store knows may have been:
  -- what comes of it is entitled under the version it would have been claimed at.
  if from == 'starting' then set_attempt(n, 'fence', job.version) end
  forget_all(n, from)
  remind('lookup', n, now)
  event('rewind', n, from, 'unknown', 'store_rewound')
  suspected = suspected + 1
end

for _, state in ipairs({ 'queued', 'running' }) do
  for _, id in ipairs(redis.call('ZRANGE', PREFIX .. 'state:' .. state, 0, -1)) do
    turn_to(PREFIX .. 'job:' .. id)
    if load_job(true) then
      looked = looked + 1
      for n = 1, job.attempts do
        if states[n] == 'starting' or states[n] == 'running' then suspect(n) end
      end
      settle()
      commit()
    end
  end
end
return { 'rewound', text(suspected), text(looked), text(base) }
