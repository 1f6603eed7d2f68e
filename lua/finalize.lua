-- include: outcome
-- finalize takes the result slot by compare-and-swap (design §2): the job's
-- version is the attempt's fence, the slot is empty, the attempt is still
-- running or unknown. Otherwise the result is late: recorded, never applied.
-- Guards I3, I5, I6.
--
-- ARGV 5 attempt  6 fence the caller was given; empty: the attempt's own
--      7 result   8 its SHA-256  9 its size in bytes  10 effect  11 usage
--     12 evidence 13 sent_ago, ms
--
-- Answers won | late (detail: what it lost against) | not_found | no_attempt.

local n, fence = tonumber(ARGV[5]), tonumber(ARGV[6])
local result, sha256, bytes = ARGV[7], ARGV[8], ARGV[9]

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end

local answer, detail = recall()
if answer then return reply(answer, detail) end

-- The winner's own bytes, heard of a second time by another way, are no news.
if job.completed_by == digits(n) and job.result_digest == digest(sha256) then return reply('won') end

observe(a, ARGV[10], ARGV[12], ARGV[13], ARGV[11])
if entitled(a, fence) then return win(a, 'finalize', result, sha256) end
return late(a, sha256, bytes)
