-- sliding_zset: an exact log of the permits admitted in (now - period, now], kept as a sorted set so that a call asked
-- again with its request id is charged once.
--
-- It grew from the article's ZREMRANGEBYSCORE, ZCARD and ZADD. There the member was the time, so that calls of one
-- millisecond were one member and passed without limit, and denied calls wrote. Here each permit has its own member.
--
-- KEYS[1]  the state: a sorted set, one member a permit, scored with its stamp in microseconds. A member is
--          "<request id>:<i>", or ":<stamp>-<i>" for a call without an id (no id makes such a name)
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id ('' = none)  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund  8 and 9 unused: ''. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used; of a repeated call the time of the first)}; of a refund allowed = something was given back
-- EXPIRES  at most 9/8 of a period after it was written; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/SlidingLogState.java
-- [algorithm]
-- CHUNK arguments fit Lua's stack; MOST members are looked through at once.
local CHUNK, MOST = 1000, 256

local function stamp_at(c, i) return tonumber(redis.call('ZRANGE', c.key, i, i, 'WITHSCORES')[2] or '') end

-- The log: how many permits are live, how many expired before them, the oldest and the newest stamp, how many are to be
-- added; the stamp of the call, and whether it repeats one that was admitted. s: an earlier one, or nil.
local function look(c, s)
  s = s or {live = 0, expired = 0, oldest = 0, newest = 0, added = 0, stamp = 0, changed = false, repeated = false}
  local size, cut = redis.call('ZCARD', c.key), c.now - c.period
  s.live, s.expired, s.added, s.stamp, s.changed, s.repeated = 0, size, 0, c.now, false, false
  if size == 0 then return s end
  local oldest = stamp_at(c, '0')
  local newest = size == 1 and oldest or stamp_at(c, '-1')
  if newest <= cut then return s end
  if oldest <= cut then size = redis.call('ZCOUNT', c.key, cut + 1, '+inf') end
  -- A clock that stepped back: what is later than now is now.
  s.live, s.expired, s.oldest, s.newest, s.changed = size, s.expired - size, oldest, newest, newest > c.now
  if c.id ~= '' and c.n > 0 and c.n <= c.limit then
    local score = tonumber(redis.call('ZSCORE', c.key, c.id .. ':1') or '')
    s.repeated = score and score > cut
    if s.repeated then s.stamp = math.min(score, c.now) end
  end
  return s
end

local function admits(c, s) return s.repeated or s.live + s.added + c.n <= c.limit end

local function take(c, s)
  if not s.repeated then s.added, s.changed = s.added + c.n, true end
end

-- Runs one command on so many arguments at a time; the sum of its replies. flag: what stands before these, or nil.
local function in_chunks(c, command, flag, args)
  local sum = 0
  for from = 1, #args, CHUNK do
    local to = math.min(#args, from + CHUNK - 1)
    sum = sum + (flag and redis.call(command, c.key, flag, unpack(args, from, to))
      or redis.call(command, c.key, unpack(args, from, to)))
  end
  return sum
end

-- Removes expired stamps: more than are added, and any that hold the names that this call needs.
local function drop(c, s)
  local cut, most = c.now - c.period, MOST + 2 * s.added
  local expired = redis.call('ZRANGEBYSCORE', c.key, '-inf', cut, 'LIMIT', 0, most)
  for i = 1, #expired == most and c.id ~= '' and s.added or 0 do
    local name = c.id .. ':' .. i
    if tonumber(redis.call('ZSCORE', c.key, name) or c.now) <= cut then expired[#expired + 1] = name end
  end
  in_chunks(c, 'ZREM', nil, expired)
end

-- Adds what was taken. A name that is in use (after a refund, or a clock that stepped) adds nothing; the next ones make
-- up for it.
local function add_taken(c, s, text)
  local prefix, used, missing = c.id == '' and ':' .. text .. '-' or c.id .. ':', 0, s.added
  if missing == 1 and redis.call('ZADD', c.key, 'NX', text, prefix .. '1') == 1 then return end
  while missing > 0 do
    local scored = {}
    for i = used + 1, used + missing do
      scored[#scored + 1], scored[#scored + 2] = text, prefix .. i
    end
    used = used + missing
    missing = missing - in_chunks(c, 'ZADD', 'NX', scored)
    if missing > 0 and c.id == '' then used = math.max(used, redis.call('ZCOUNT', c.key, text, text)) end
  end
end

-- Adds what was taken, drops some stamps that have expired, and moves those that are later than now.
local function write(c, s)
  local text = string.format('%.0f', c.now)
  -- In a slot of a cluster that moves, a key that is gone can't be written again: a member that no call has keeps it.
  local lone = s.expired > 0 and s.live == 0
  if lone then redis.call('ZADD', c.key, text, '') end
  if s.expired > 0 then drop(c, s) end
  if s.live > 0 and s.newest > c.now then
    local restamped = {}
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', c.key, c.now + 1, '+inf')) do
      restamped[#restamped + 1], restamped[#restamped + 2] = text, member
    end
    in_chunks(c, 'ZADD', 'XX', restamped)
  end
  add_taken(c, s, text)
  if lone then redis.call('ZREM', c.key, '') end
  -- Renewed each eighth of a period: a time to live costs as much as a member. A given clock may go slower.
  local life = math.ceil(c.period / 1000)
  if c.given or redis.call('PTTL', c.key) < life then redis.call('PEXPIRE', c.key, math.ceil(life * 9 / 8)) end
  if s.live == 0 then s.oldest = c.now end
  s.live, s.added, s.newest = s.live + s.added, 0, s.added > 0 and c.now or math.min(s.newest, c.now)
end

local function back(c, s, stamp)
  if stamp <= c.now - c.period then return false end
  local at, gone = string.format('%.0f', stamp), {}
  if c.id == '' then
    local from, some = 0, nil
    repeat
      some = redis.call('ZRANGEBYSCORE', c.key, at, at, 'LIMIT', from, MOST)
      for _, member in ipairs(some) do
        if #gone < c.n and string.find(member, '^:%d+%-%d+$') then gone[#gone + 1] = member end
      end
      from = from + #some
    until #gone >= c.n or #some < MOST
  elseif tonumber(redis.call('ZSCORE', c.key, c.id .. ':1') or '') == stamp then
    for i = 1, math.min(c.n, s.live) do gone[i] = c.id .. ':' .. i end
  end
  if in_chunks(c, 'ZREM', nil, gone) == 0 then return false end
  look(c, s)
  return true
end

-- The i-th live stamp (from 0), with those to be added.
local function at(c, s, i)
  if i >= s.live then return c.now end
  -- Nil where PEXPIRE has found that the time was over already: a period of a millisecond or two.
  return math.min(i == 0 and s.expired == 0 and s.oldest or stamp_at(c, i - s.live) or c.now, c.now)
end

local function answer(c, s, allowed)
  local count, until_us = s.live + s.added, c.period - c.now
  if count == 0 then return -1, c.limit, 0, 0, s.stamp end
  local over, excess = count + c.n - c.limit, math.max(0, count - c.limit)
  local newest = s.added > 0 and c.now or math.min(s.newest, c.now)
  local next_us = at(c, s, excess) + until_us
  local retry = allowed and 0 or c.n > c.limit and -1
    or over > 0 and (over - 1 == excess and next_us or at(c, s, over - 1) + until_us) or 0
  return retry, math.max(0, c.limit - count), next_us, newest + until_us, s.stamp
end
-- [/algorithm]

-- [call] The same lines in each file that runs alone: they read one call, decide it by the functions above, and answer.
local function whole(text, least)
  local value = tonumber(text or '')
  return value and value >= least and value < 2 ^ 53 and value % 1 == 0 and value
end

local args = ARGV
local given, mode, stamp = args[5] or '', args[7] or '', nil
local time = given == '' and redis.call('TIME')
local c = {key = KEYS[1], n = whole(args[1], 0), limit = whole(args[2], 0), period = whole(args[3], 1),
  burst = whole(args[4], 0), now = time and time[1] * 1000000 + time[2] or whole(given, 0), id = args[6] or '',
  options = args[9] or ''}
if not time then c.given = true end
if mode ~= '' then stamp = tonumber(string.match(mode, '^back:(%d+)$') or '') end
if not (c.key and c.n and c.limit and c.period and c.burst and c.now and (mode == '' or mode == 'look' or stamp)) then
  return redis.error_reply("ERR limiter: KEYS must be 1 key; ARGV 1 to 4 whole numbers: permits, limit, period_us (at"
    .. " least 1), burst; 5 '' or a whole number: now_us; 7 '', 'look' or 'back:<stamp_us>'")
end
-- A limit of 0 permits denies all, and has no state.
local s = c.limit > 0 and look(c)
local allowed, retry, remaining, next_us, reset, used = c.n == 0 and not stamp, -1, 0, 0, 0, c.now
if s and c.n > 0 then
  allowed = stamp and back(c, s, stamp) or not stamp and admits(c, s)
  if allowed and not stamp then take(c, s) end
  if s.changed and mode ~= 'look' then write(c, s) end
end
if s then retry, remaining, next_us, reset, used = answer(c, s, allowed) end
return {allowed and 1 or 0, remaining, (allowed or stamp) and 0 or retry, next_us, reset, used}
