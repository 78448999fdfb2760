-- key_secrets: whether all instances hash the secrets in keys in one way. With different ones each has its own quotas.
--
-- KEYS[1]  a sorted set: check values, by the milliseconds when an instance last had each
-- ARGV     1 the caller's check value  2 for how many milliseconds a value counts after that
-- RETURNS  {how many others there are}
-- EXPIRES  when no value counts any more
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[2])))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {redis.call('ZCARD', KEYS[1]) - 1}
