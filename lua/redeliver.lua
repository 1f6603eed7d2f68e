-- include: delivery
-- redeliver has a delivery tried again from the start of its schedule, under the
-- same id, because a person asks; also one that was delivered, and also for a
-- receiver that has said 410.
--
-- ARGV 5 delivery  6 expected version; empty: any  7 reason
--      8 margin, ms: refuse when the record expires sooner than that
--
-- Answers redelivering | version_mismatch | expiring | not_found | no_webhook.

local h, expected, reason, margin = ARGV[5], tonumber(ARGV[6]), given(ARGV[7]), tonumber(ARGV[8])

if not load_job() then return reply('not_found') end
local d = load_hook(h)
if not d then return reply('no_webhook') end
local answer = recall()
if answer then return reply(answer) end
if expected and expected ~= job.version then return reply('version_mismatch') end
if job.expires and tonumber(job.expires) - now < margin then return reply('expiring') end

if job.hooks_off then unset('hooks_off') end
open_hook(h, now)
set_hook(h, 'tries', 0)
set_hook(h, 'delivered', '')
-- A try under way keeps its turn: two never send at once.
if d.state == 'pending' and d.lease > now then
  redis.call('ZADD', DUE, text(d.lease), due_name('webhook', 'h' .. h))
else
  set_hook(h, 'token', '')
  set_hook(h, 'lease', 0)
end
tell('redeliver', d, 'pending', reason and (': ' .. reason) or '')
remember('redelivering')
commit(true)
return reply('redelivering')
