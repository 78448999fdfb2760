-- The floor for token_bucket.lua: takes, and nothing else. No check of arguments or state, no guard against clocks or changed limits.
-- KEYS[1] the state  ARGV 1 permits  2 limit  3 period_us  4 burst
local n, limit, period, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full, wanted = burst * period, n * period
local credit = full
local raw = redis.call('GET', KEYS[1])
if raw then
  local before, from = struct.unpack('<dd', raw)
  credit = math.min(full, before + (now - from) * limit)
end
local allowed = credit >= wanted
if allowed then
  credit = credit - wanted
  redis.call('SET', KEYS[1], struct.pack('<dd', credit, now), 'PX', math.ceil((full - credit) / limit / 1000))
end
local whole = math.floor(credit / period)
return {allowed and 1 or 0, whole, allowed and 0 or math.ceil((wanted - credit) / limit),
  math.ceil(((whole + 1) * period - credit) / limit), math.ceil((full - credit) / limit), now}
