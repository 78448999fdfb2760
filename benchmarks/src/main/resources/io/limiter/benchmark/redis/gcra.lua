-- The least that a token bucket needs on the server's clock: one number, the time when the bucket is full again.
--
-- KEYS[1]  the state   ARGV  1 microseconds of a permit  2 microseconds of a full bucket
-- RETURNS  {allowed 0|1, remaining, retry_after_us}
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local permit, full = tonumber(ARGV[1]), tonumber(ARGV[2])
local next = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + permit
if next - now > full then return {0, 0, next - now - full} end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return {1, math.floor((full - next + now) / permit), 0}
