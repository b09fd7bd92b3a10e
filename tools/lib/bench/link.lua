-- Links one new identity to each prepared account, once. Two wrk threads (-t2) or more.
--
--   link.lua -- ACCESS_TOKENS ID_TOKENS PROVIDER      files of one token a line, of equal length
--
-- Prints "<links> <failures> <seconds>": answers 200 to a link, answers of any other kind, and the time
-- from the first request to the last link. The run ends when one thread has used up its share.

local ending = dofile(os.getenv("BENCH_SCRIPTS") .. "/ending.lua")
local threads = {}

function setup(thread)
    thread:set("thread_index", #threads)
    threads[#threads + 1] = thread
end

-- The requests of this thread, made beforehand so that making them costs nothing in the run.
local requests = {}
local sent = 0
-- Globals of a thread's script are what `done` can read.
links, failures, first_sent, last_linked = 0, 0, 0, 0

function init(args)
    local id_tokens = io.lines(args[2])
    local thread_count = tonumber(os.getenv("BENCH_THREADS"))
    local index = 0
    for access_token in io.lines(args[1]) do
        local id_token = id_tokens()
        if index % thread_count == thread_index then
            local headers = {
                ["Content-Type"] = "application/json",
                ["Authorization"] = "Bearer " .. access_token,
            }
            requests[#requests + 1] = wrk.format(
                "POST", "/v1/auth/link/" .. args[3], headers, '{"id_token":"' .. id_token .. '"}')
        end
        index = index + 1
    end
    if thread_index == 0 then
        -- wrk tries out the first call of the first thread and never sends what it gets.
        sent = -1
    end
end

function request()
    sent = sent + 1
    if sent == 1 then
        first_sent = ending.now()
    end
    if sent == #requests then
        ending.stop()
    end
    -- wrk goes on for up to a tenth of a second; what it sends then has no place in the figures.
    return requests[sent] or wrk.format("GET", "/used-up")
end

function response(status)
    if status == 200 then
        links = links + 1
        last_linked = ending.now()
    elseif status ~= 404 then
        failures = failures + 1
    end
end

function done()
    local all_links, all_failures, first, last = 0, 0, math.huge, 0
    for _, thread in ipairs(threads) do
        all_links = all_links + thread:get("links")
        all_failures = all_failures + thread:get("failures")
        first = math.min(first, thread:get("first_sent"))
        last = math.max(last, thread:get("last_linked"))
    end
    io.write("result ", all_links, " ", all_failures, " ", last - first, "\n")
end
