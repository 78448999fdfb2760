-- batch: decides a list of requests. A request is a list of charges on limits: the script looks at all limits of a
-- request first, then charges all of them, or none. It is put together when its class loads: lines above these define
-- the function algorithm, which returns the functions of an algorithm by its name ('fixed+holds': those of holds.lua).
-- They are the parts of the other files between their marks.
--
-- KEYS     the limits' states, request by request, each followed by the key of its records, if it has any. Keys of
--          several slots of a cluster can't be declared: then it is the first state, and its records, which find the
--          server, and all of them are in ARGV
-- ARGV     1 now_us ('' = server TIME)
--          2 number of forms; below 0 if names of keys follow: how many, then the names. Then the forms. A form is the
--          number of its limits, then 5 values for each limit: algorithm (as in Algorithm.text(), and '+holds' where it
--          has them), permits, limit, period_us and burst as in the algorithm files. If the number is negative, each
--          limit has 9 values: also ARGV 6 to 9 of the algorithm files, and with holds 10 to 12. The mode of a form is
--          that of its first limit. Some modes exist only here: 'see' returns whether the request is allowed, with the
--          numbers of a call that takes nothing; 'ask' does the same as the first step of a take; 'reset' deletes the
--          states. In a refund ('back:<stamp_us>', of a settlement 'back:') each limit is refunded by itself. A block
--          comes after the limits of its policy, and its options say how many they are ('of=<n>'); it counts a denial
--          when one of these denies.
--          Then for each request: its form (1 is the first), how many times it is asked (not if a limit has values of
--          its own), and of each limit: of a reservation the id; of a settlement the id, the window's end and the
--          actual permits, in hexadecimal digits, which take less time to read; in flight the id of the call. Form and
--          times are left out where there is one form and each request is asked once
-- RETURNS  one array, because Redis before 7 writes each nested one to the connection by a system call of its own. For
--          each request: how many integers follow, and these: 6 for each of its limits, as in the algorithm files, for
--          each time that it was asked until it was denied, because each later time is the same. If an error kept a
--          request from a decision: -1, or -2 if it had begun to write, and the text of that error. For one request
--          that is asked once: its integers, or the error
-- EXPIRES  as in the algorithm files
local number = tonumber
local given, now = ARGV[1] ~= '', number(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local names, skip, at, form_count = KEYS, 0, 3, number(ARGV[2])
if form_count < 0 then names, skip, at, form_count = ARGV, 3, 4 + number(ARGV[3]), -form_count end
local made = {}

-- A form: its limits, how many keys and values of its own each request has, its mode, whether its requests are asked
-- once; whether it takes of one limit; whether its present request has begun to write. A limit is what the algorithm
-- files call c, with its functions f and its state s. Returns where the next form begins.
local function form_at(at)
  local count, width = number(ARGV[at]), 5
  if count < 0 then count, width = -count, 9 end
  local form = {keys = 0, values = 0, mode = '', takes = true, once = false, takes_one = false, changed = false}
  at = at + 1
  for i = 1, count do
    local name = ARGV[at]
    -- At most 16 fields, so that it is small.
    local c = {n = number(ARGV[at + 1]), limit = number(ARGV[at + 2]), period = number(ARGV[at + 3]),
      burst = number(ARGV[at + 4]), now = now, given = given, id = '', options = '', mode = '', key = '',
      keys = 1, values = 0, f = false, s = nil, allows = false, writes = true}
    if width == 9 then
      local mode, stamp = string.match(ARGV[at + 6], '^(%l*):?(%d*)$')
      c.id, c.mode, c.request, c.options = ARGV[at + 5], mode, ARGV[at + 7], ARGV[at + 8]
      if mode == 'back' then c.stamp = number(stamp) end
      c.writes = mode ~= 'look' and mode ~= 'see'
      if i == 1 then form.mode, form.takes = mode, mode == '' end
      if string.sub(name, -6) == '+holds' then
        c.keys, c.most, c.ttl, c.keep = 2, number(ARGV[at + 9]), number(ARGV[at + 10]), number(ARGV[at + 11])
        if c.ttl then c.values = mode == '' and 1 or mode == 'back' and 3 or 0 end
        at = at + 3
      elseif name == 'concurrent' then
        c.values = 1
      elseif name == 'allotment' then
        c.keys = 2
      elseif name == 'block' then
        c.of, c.base = number(string.match(c.options, 'of=(%d+)') or ''), c.options
      end
    end
    made[name] = made[name] or algorithm(name)
    c.f = made[name]
    form[i], form.keys, form.values = c, form.keys + c.keys, form.values + c.values
    form.once = form.once or c.values > 0
    at = at + width
  end
  form.takes_one = count == 1 and form.takes and form[1].n > 0 and form[1].limit > 0
  return form, at
end

-- Gives the limits their keys, and what distinguishes the request.
local function bind(form, key, own)
  form.changed = false
  for i = 1, #form do
    local c = form[i]
    c.key = names[skip + key]
    if c.keys == 2 then c.records = names[skip + key + 1] end
    if c.values > 0 then
      c.id = ARGV[own]
      if c.values == 3 then c.stamp, c.actual = number(ARGV[own + 1], 16), number(ARGV[own + 2], 16) end
    end
    key, own = key + c.keys, own + c.values
  end
end

-- In their order, one by one: else they are no array while the reply grows.
local function append(reply, size, c, allows, ...)
  local retry, remaining, next_us, reset, used = ...
  reply[size + 1] = allows and 1 or 0
  reply[size + 2] = remaining
  reply[size + 3] = (allows or c.stamp) and 0 or retry
  reply[size + 4] = next_us
  reply[size + 5] = reset
  reply[size + 6] = used
  return size + 6
end

-- A take of one limit: its state is read once and written once, however often it is asked.
local function take_one(form, times, reply, size)
  local c, granted = form[1], 0
  local f = c.f
  local s = f.look(c, c.s)
  c.s = s
  while granted < times and f.admits(c, s) do
    f.take(c, s)
    granted = granted + 1
    if granted < times then size = append(reply, size, c, true, f.answer(c, s, true)) end
  end
  if s.changed then
    form.changed = true
    f.write(c, s)
  end
  return append(reply, size, c, granted == times, f.answer(c, s, granted == times))
end

-- Charges one limit if all allow, or gives back, writes, and answers.
local function finish(form, c, all, reply, size)
  local s, f, allows = c.s, c.f, c.allows and c.mode ~= 'back'
  if c.limit == 0 then return append(reply, size, c, allows, -1, 0, 0, 0, now) end
  if c.n > 0 and c.mode == 'back' then
    form.changed = true
    allows = f.back(c, s, c.stamp)
  elseif c.n > 0 and all and (form.takes or form.mode == 'look') then
    f.take(c, s)
  end
  if c.n > 0 and c.writes and s.changed then
    form.changed = true
    f.write(c, s)
  end
  return append(reply, size, c, allows, f.answer(c, s, allows))
end

-- Looks at all limits. Returns whether all allow.
local function look_at_all(form)
  local denied = 0
  for i = 1, #form do
    local c = form[i]
    c.allows = c.n == 0
    if c.of then
      local counts = (form.takes or form.mode == 'ask') and denied > 0 and denied >= i - c.of
      c.options = counts and c.base .. ',denied=1' or c.base
    end
    if c.limit > 0 then
      c.s = c.f.look(c, c.s)
      if c.n > 0 and c.mode ~= 'back' then c.allows = c.f.admits(c, c.s) end
    end
    if not c.allows then denied = i end
  end
  return denied == 0
end

-- Appends the numbers of a request to a reply, which has so many already. Returns how many it has then.
local function decide(form, times, reply, size)
  if form.takes_one then return take_one(form, times, reply, size) end
  if form.mode == 'reset' then
    form.changed = true
    for _, c in ipairs(form) do
      if c.keys == 2 then redis.call('UNLINK', c.key, c.records) else redis.call('UNLINK', c.key) end
      size = append(reply, size, c, c.n == 0, -1, 0, 0, 0, now)
    end
    return size
  end
  repeat
    local all = look_at_all(form)
    for i = 1, #form do size = finish(form, form[i], all, reply, size) end
    times = times - 1
  until times == 0 or not all
  return size
end

-- The forms by their numbers, as texts.
local forms = {}
for i = 1, form_count do forms[tostring(i)], at = form_at(at) end
local reply, size, key, form, times = {}, 0, 1, forms['1'], 1
if form_count == 1 and skip == 0 and #KEYS == form.keys and at + form.values == #ARGV + 1 then
  bind(form, 1, at)
  decide(form, 1, reply, 0)
  return reply
end
local key_count = skip == 0 and #KEYS or number(ARGV[3])
local is_listed = form_count > 1 or #ARGV - at + 1 ~= key_count / form.keys * form.values
local function decide_all()
  while key <= key_count do
    if is_listed then form, at = forms[ARGV[at]], at + 1 end
    times = 1
    if is_listed and not form.once then times, at = number(ARGV[at]), at + 1 end
    bind(form, key, at)
    key, at = key + form.keys, at + form.values
    reply[size + 1] = 0
    local after = decide(form, times, reply, size + 1)
    reply[size + 1], size = after - size - 1, after
  end
end
repeat
  local ok, failure = pcall(decide_all)
  if not ok then
    -- It ends one request; the others go on.
    for i = #reply, size + 3, -1 do reply[i] = nil end
    reply[size + 1] = form and form.changed and -2 or -1
    reply[size + 2] = type(failure) == 'table' and failure.err or tostring(failure)
    size = size + 2
  end
until ok or not form
return reply
