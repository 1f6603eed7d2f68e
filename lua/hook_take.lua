-- include: delivery
-- hook_take takes the turn for the next try of a delivery: of several workers one
-- sends, and if it dies another may once the lease has passed.
--
-- ARGV 5 delivery  6 token  7 lease, ms
--
-- Answers taken (detail: number of the try) | not_pending (detail: its state) |
-- too_early | not_found | no_webhook.

local h, token, lease = ARGV[5], ARGV[6], now + tonumber(ARGV[7])

if not load_job() then return reply('not_found') end
local d = load_hook(h)
if not d then return reply('no_webhook') end
if d.state ~= 'pending' then return reply('not_pending', d.state) end
if d.token == token then return reply('taken', text(d.tries)) end
if now < d.next or now < d.lease then return reply('too_early') end

if d.token then tell('webhook', d, 'pending', ' try ' .. text(d.tries) .. ': worker_lost') end
set_hook(h, 'tries', d.tries + 1)
set_hook(h, 'token', token)
set_hook(h, 'lease', lease)
set_hook(h, 'wakes', 0)
redis.call('ZADD', DUE, text(lease), due_name('webhook', 'h' .. h))
commit(true)
return reply('taken', text(d.tries + 1))
