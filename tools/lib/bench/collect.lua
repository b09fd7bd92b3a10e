-- Sends prepared requests once each and writes one member of every answer to a file, a line each.
-- The order of the lines is that of the answers. One wrk thread (-t1).
--
--   collect.lua -- tokens PROVIDER PREFIX COUNT OUTPUT     ID tokens of new people
--   collect.lua -- sign-ins PROVIDER INPUT COUNT OUTPUT    access tokens for the ID tokens of INPUT
--
-- Prints "<answers> <failures> <seconds>".

local ending = dofile(os.getenv("BENCH_SCRIPTS") .. "/ending.lua")
local make_request, member, count, output
-- The first call of `request` is wrk's own trial, which it never sends.
local sent, answered, failed = -1, 0, 0
local began

local function lines_of(path)
    local lines = {}
    for line in io.lines(path) do
        lines[#lines + 1] = line
    end
    return lines
end

function init(args)
    local kind, provider, source, target = args[1], args[2], args[3], args[5]
    count = tonumber(args[4])
    output = assert(io.open(target, "w"))
    if kind == "tokens" then
        member = '"id_token"%s*:%s*"([^"]+)"'
        make_request = function(index)
            return wrk.format("GET", "/dev/idp/" .. provider .. "/token?name=" .. source .. index)
        end
    else
        member = '"access_token"%s*:%s*"([^"]+)"'
        local tokens = lines_of(source)
        local headers = { ["Content-Type"] = "application/json" }
        make_request = function(index)
            local body = '{"id_token":"' .. tokens[index] .. '"}'
            return wrk.format("POST", "/v1/auth/sign-in/" .. provider, headers, body)
        end
    end
end

function request()
    sent = sent + 1
    if sent == 1 then
        began = ending.now()
    end
    if sent > 0 and sent <= count then
        return make_request(sent)
    end
    -- wrk always wants a request; this one's answer has no member and counts as nothing.
    return wrk.format("GET", "/healthz")
end

function response(status, headers, body)
    local value = body:match(member)
    if value then
        output:write(value, "\n")
        answered = answered + 1
    elseif status ~= 200 then
        failed = failed + 1
    else
        return
    end
    if answered + failed == count then
        output:close()
        result = answered .. " " .. failed .. " " .. (ending.now() - began)
        ending.stop()
    end
end

-- Globals of a thread's script are what `done` can read.
result = "0 0 0"

local threads = {}

function setup(thread)
    threads[#threads + 1] = thread
end

function done()
    io.write("result ", threads[1]:get("result"), "\n")
end
