-- batch: decides a list of requests. A request is a list of charges on limits: the script looks at all limits of a request
-- first, then charges all of them, or none. It is put together when its class loads: lines above these define the local given
-- (whether ARGV has a time) and the function algorithm, which returns the functions of an algorithm by its name. They are the
-- parts of the algorithm files between their [algorithm] marks.
--
-- KEYS     the limits' states, request by request; in a cluster each is followed by the hash of its records, if it may have one
--          (hold_records.lua), so that a call fails while only one of them has moved. Keys of several slots of a cluster can't be
--          declared: then it is the first state, and its hash, which find the server, and all of them are in ARGV
-- ARGV     1 now_us ('' = server TIME)
--          2 number of forms; below 0 if names of keys follow: how many, then the names. Then the forms. A form is the number of its limits, then 5 values for each limit: algorithm (as
--          in Algorithm.text(), and '+holds' where ARGV 9 has them, '+holds1' if the hash follows in KEYS), permits, limit, period_us and burst as in the algorithm files. If the number is negative,
--          each limit has 9 values: also ARGV 6 to 9 of the algorithm files.
--          The mode of a form is that of its first limit. Three modes exist only here: 'see' returns whether the request is
--          allowed, with the numbers of a call that takes nothing; 'ask' does the same as the first step of a take; 'reset'
--          deletes the states. In a refund ('back:<stamp_us>') each limit is refunded by itself. Reservations ('reserve') and their
--          settlements ('settle', ARGV 9 ends with ',settle') have what distinguishes them after the form.
--          A block comes after the limits of its policy, and its options say how many they are ('of=<n>'); it counts a denial
--          when one of these denies.
--          Then for each request: its form (1 is the first), how many times it is asked (not of reservations and settlements), and of
--          these the id; of a settlement for each limit the end and the actual permits. Form and times are left out where there is
--          one form and each request is asked once
-- RETURNS  one array, because Redis before 7 writes each nested one to the connection by a system call of its own. For each request:
--          how many integers follow, and these: 6 for each of its limits, as in the algorithm files, for each time that it was asked
--          until it was denied, because each later time is the same. If an error kept a request from a decision: -1, or -2 if it had
--          begun to write, and the text of that error. For one request that is asked once: its integers, or the error
-- EXPIRES  as in the algorithm files
local number = tonumber
local now = number(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local names, skip, at, form_count = KEYS, 0, 3, number(ARGV[2])
if form_count < 0 then names, skip, at, form_count = ARGV, 3, 4 + number(ARGV[3]), -form_count end
local made, changed, hold_id = {}, false, ''

local function functions_of(name)
  local functions = made[name]
  if not functions then
    functions = {algorithm(name)}
    made[name] = functions
  end
  return functions
end

-- Whether the next key belongs to that limit, too.
local function has_hash(name) return string.byte(name, -1) == 49 end

-- Looks at one limit, then at those after it, and charges it when all allow. Its values in ARGV begin at at; those of the last
-- limit end at last. denied: where the values of the nearest limit before it that denies begin, 0 for none. is_only: there are no
-- others. settled: where its end and actual permits are. Returns whether all allow.
local function decide(at, last, width, mode, key, reply, base, denied, is_only, settled)
  local functions = functions_of(ARGV[at])
  local look, charge, write, settle = functions[1], functions[2], functions[3], functions[4]
  local n, limit, period, burst = number(ARGV[at + 1]), number(ARGV[at + 2]), number(ARGV[at + 3]), number(ARGV[at + 4])
  local name, id, request, options = names[skip + key], '', '', ''
  if width == 9 then
    id, request, options = ARGV[at + 5], hold_id or ARGV[at + 7], ARGV[at + 8]
    local of = denied > 0 and (mode == '' or mode == 'ask') and number(string.match(options, 'of=(%d+)') or 0)
    if of and denied >= at - width * of then options = options .. ',denied=1' end
  end
  -- With holds one function decides all of it: what it says alone; then, if there are others, what it says and writes with them.
  local call, stamp, actual = functions[7], mode == 'back' and number(settled and ARGV[settled] or string.sub(ARGV[at + 6], 6)), nil
  if settled then actual = number(ARGV[settled + 1]) end
  local allows, a, b, c, d, e, f = n == 0
  local g, h, i, j, k, l
  local retry, remaining, next_us, reset, used, raw = -1, 0, 0, 0, now, nil
  if mode == 'reset' then
    -- An error: a user who may not, as documented for earlier versions.
    local stays = call and call(functions, 'reset', name, now, n, limit, period, burst, id, 0, request, options)
    if not stays and type(redis.pcall('UNLINK', name)) ~= 'number' then redis.call('DEL', name) end
  elseif limit > 0 then
    if call then
      local step = n == 0 and 'see' or stamp and 'back' or is_only and mode == '' and 'take' or 'see'
      changed = changed or step ~= 'see'
      allows, remaining, retry, next_us, reset, used =
        call(functions, step, name, now, n, limit, period, burst, id, stamp, request, options, actual)
      if allows == nil then call, allows, raw, options = nil, n == 0, remaining, retry end
    end
    if not call then
      a, b, c, d, e, f = look(name, now, n, limit, period, burst, id, request, options, raw)
      if n > 0 then
        g, h, i, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
        allows = g ~= nil
      end
    end
  end
  if not allows then denied = at end
  local all = denied == 0
  if at + width <= last then
    local next_key = has_hash(ARGV[at]) and key + 2 or key + 1
    all = decide(at + width, last, width, mode, next_key, reply, base + 6, denied, false, settled and settled + 2)
  end
  if stamp and (not call or n == 0) then allows = false end
  if call and limit > 0 and n > 0 and not stamp and not (is_only and mode == '') then
    local step = all and (mode == '' and 'take' or mode == 'look' and mode) or not all and (mode == '' or mode == 'ask') and 'settle'
    if step then
      changed = changed or step ~= 'look'
      allows, remaining, retry, next_us, reset, used = call(functions, step, name, now, n, limit, period, burst, id, stamp, request, options)
    end
  elseif a and n > 0 then
    changed = changed or mode ~= 'look' and mode ~= 'see'
    if stamp then
      allows, a, b, c, d, e, f =
        functions[5](name, now, n, limit, period, burst, id, stamp, a, b, c, d, e, f, request, options)
    elseif all and mode == '' then
      a, b, c, d, e, f = write(name, now, n, limit, period, burst, id, g, h, i, j, k, l, request, options)
    elseif all and mode == 'look' then
      a, b, c, d, e, f = g, h, i, j, k, l
    elseif mode == '' or mode == 'ask' then
      a, b, c, d, e, f = settle(name, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options)
    end
  end
  if a then
    retry, remaining, next_us, reset, used =
      functions[6](name, now, n, limit, period, burst, allows, a, b, c, d, e, f, options)
  end
  reply[base + 1], reply[base + 2], reply[base + 3] = allows and 1 or 0, remaining, (allows or stamp) and 0 or retry
  reply[base + 4], reply[base + 5], reply[base + 6] = next_us, reset, used
  return all
end

-- Appends the numbers of a request to a reply, which has so many already. values: where it says what it holds. Returns how many
-- numbers it has then.
local function ask(at, key, times, reply, size, values)
  local count = number(ARGV[at])
  local width, mode, settled = 5, '', nil
  hold_id = nil
  if count < 0 then
    count, width, mode = -count, 9, ARGV[at + 7]
    if string.sub(mode, 1, 5) == 'back:' then mode = 'back' end
    if mode == 'reserve' or mode == 'settle' then
      hold_id = ARGV[values]
      if mode == 'settle' then settled = values + 1 end
      mode = settled and 'back' or ''
    end
  end
  local last = at + width * count
  repeat
    -- Its numbers are written from the last limit to the first; without these they would not make an array.
    for i = size + 1, size + 6 * count do reply[i] = 0 end
    times, size = times - 1, size + 6 * count
  until not decide(at + 1, last, width, mode, key, reply, size - 6 * count, 0, count == 1, settled) or times == 0
  return size
end

-- How many keys a form has, and how many values each request of it: a reservation one, a settlement one and two for each limit.
local function sizes(at)
  local count = number(ARGV[at])
  if count > 0 then return count, 0 end
  local keys, mode = -count, ARGV[at + 7]
  for i = at + 1, at - 9 * count, 9 do
    if has_hash(ARGV[i]) then keys = keys + 1 end
  end
  return keys, mode == 'reserve' and 1 or mode == 'settle' and 1 - 2 * count or 0
end

if form_count == 1 and skip == 0 then
  local limits, keys, values = number(ARGV[3]), sizes(3)
  local last = 3 + math.abs(limits) * (limits < 0 and 9 or 5)
  if #KEYS == keys and last + values == #ARGV then
    local reply = {0, 0, 0, 0, 0, 0}
    ask(3, 1, 1, reply, 0, last + 1)
    return reply
  end
end

-- What most requests are: a take of one limit, without an id. Its state is read once and written once, however often it is asked.
local function take(form, name, times, reply, size)
  local functions, n, limit, period, burst, options = form[3], form[4], form[5], form[6], form[7], form[8]
  local call, charge, answer, granted, raw = functions[7], functions[2], functions[6], 0, nil
  while call and granted < times do
    changed = true
    local allows, remaining, retry, next_us, reset, used = call(functions, 'take', name, now, n, limit, period, burst, '', nil, '', options)
    if allows == nil then
      call, raw, options = nil, remaining, retry
    else
      granted = allows and granted + 1 or times
      reply[size + 1], reply[size + 2], reply[size + 3] = allows and 1 or 0, remaining, allows and 0 or retry
      reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
      size = size + 6
    end
  end
  if call then return size end
  local a, b, c, d, e, f = functions[1](name, now, n, limit, period, burst, '', '', options, raw)
  while granted < times do
    local g, h, i, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
    if not g then break end
    a, b, c, d, e, f, granted = g, h, i, j, k, l, granted + 1
    if granted < times then
      local _, remaining, next_us, reset, used =
        answer(name, now, n, limit, period, burst, true, a, b, c, d, e, f, options)
      reply[size + 1], reply[size + 2], reply[size + 3] = 1, remaining, 0
      reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
      size = size + 6
    end
  end
  changed = true
  a, b, c, d, e, f = functions[granted > 0 and 3 or 4](
    name, now, n, limit, period, burst, '', a, b, c, d, e, f, '', options)
  local allowed = granted == times
  local retry, remaining, next_us, reset, used =
    answer(name, now, n, limit, period, burst, allowed, a, b, c, d, e, f, options)
  reply[size + 1], reply[size + 2], reply[size + 3] = allowed and 1 or 0, remaining, allowed and 0 or retry
  reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
  return size + 6
end

-- A reservation or settlement of one limit. Its values begin at value.
local function hold(form, name, value, reply, size)
  local fs, id, n, limit, period, burst, stamp, actual = form[3], ARGV[value], form[4], form[5], form[6], form[7], nil, nil
  if form[9] > 1 then stamp, actual = ARGV[value + 1] + 0, ARGV[value + 2] + 0 end
  changed = true
  local allows, remaining, retry, next_us, reset, used
  if form[11] then
    allows, remaining, retry, next_us, reset, used =
      fs[10](fs, name, now, n, limit, period, burst, id, stamp, actual, form[11], form[12], form[13])
  end
  if allows == nil then
    allows, remaining, retry, next_us, reset, used =
      fs[7](fs, stamp and 'back' or 'take', name, now, n, limit, period, burst, '', stamp, id, form[8], actual, remaining)
    if allows or stamp then retry = 0 end
  end
  reply[size + 1] = allows and 1 or 0
  reply[size + 2] = remaining
  reply[size + 3] = retry
  reply[size + 4] = next_us
  reply[size + 5] = reset
  reply[size + 6] = used
  return size + 6
end

-- A form: where it begins, how many keys it has, and of one that is taken, reserved or settled its functions, numbers and options;
-- how many values each request has.
local forms = {}
for i = 1, form_count do
  local count, mode = number(ARGV[at]), ''
  local n, limit = number(ARGV[at + 2]), number(ARGV[at + 3])
  local form = {at}
  form[2], form[9] = sizes(at)
  if count == -1 then mode = form[9] > 0 and '' or ARGV[at + 6] .. ARGV[at + 7] .. ARGV[at + 8] end
  if n > 0 and limit > 0 and math.abs(count) == 1 and mode == '' then
    form[3], form[4], form[5], form[6], form[7] = functions_of(ARGV[at + 1]), n, limit, number(ARGV[at + 4]), number(ARGV[at + 5])
    form[8] = count == -1 and ARGV[at + 9] or ''
    if form[9] > 0 then
      local base
      base, form[11], form[12], form[13] = form[3][11](form[8], 0)
      if base ~= '' then form[11] = nil end
    end
  end
  forms[tostring(i)] = form
  at = at + 1 + math.abs(count) * (count < 0 and 9 or 5)
end
local reply, size, key, form, times = {}, 0, 1, forms['1'], 1
local key_count = skip == 0 and #KEYS or number(ARGV[3])
local is_listed = form_count > 1 or #ARGV - at + 1 ~= key_count / form[2] * form[9]
local function decide_all()
  while key <= key_count do
    if is_listed then form, at = forms[ARGV[at]], at + 1 end
    local values, first, begin = form[9], key, at
    if is_listed and values == 0 then times, at = number(ARGV[at]), at + 1 end
    key, at, changed = key + form[2], at + values, false
    reply[size + 1] = 0
    local after
    if not form[3] then
      after = ask(form[1], first, times, reply, size + 1, begin)
    elseif values > 0 then
      after = hold(form, names[skip + first], begin, reply, size + 1)
    else
      after = take(form, names[skip + first], times, reply, size + 1)
    end
    reply[size + 1], size = after - size - 1, after
  end
end
repeat
  local ok, failure = pcall(decide_all)
  if not ok then
    -- It ends one request; the others go on.
    for i = #reply, size + 3, -1 do reply[i] = nil end
    reply[size + 1], reply[size + 2] = changed and -2 or -1, type(failure) == 'table' and failure.err or tostring(failure)
    size = size + 2
  end
until ok or not form
return reply
