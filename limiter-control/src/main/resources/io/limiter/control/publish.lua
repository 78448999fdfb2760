-- Publishes a version. KEYS: head; its text, its overrides and switches, its change; the text, and the overrides and
-- switches, of the version before; the text that is dropped. ARGV: the head that the publisher has seen, the new head,
-- the text, the overrides and switches or nothing, in how many milliseconds the last of them ends, and the change. A
-- part that is absent has a key that does not exist.
local KEPT_MILLIS = 2592000000 -- 30 days
local READ_MILLIS = 60000 -- somebody may be about to read it
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return {'other'} end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[3])
-- A number may come again after a loss of data: nothing of its earlier version may stay.
if ARGV[4] ~= '' then redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5]) else redis.call('DEL', KEYS[3]) end
redis.call('SET', KEYS[4], ARGV[6], 'PX', KEPT_MILLIS)
redis.call('PEXPIRE', KEYS[5], KEPT_MILLIS)
redis.call('PEXPIRE', KEYS[6], READ_MILLIS)
redis.call('DEL', KEYS[7])
return {'done'}
