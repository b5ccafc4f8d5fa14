"""Lexicon of the statement rules: verbs and phrases of what people do, are and did.

Phrases are parted by commas. They are regular expressions in which a space is any white space
and groups do not capture; where a verb is too common alone, the words behind it are named.
"""

import re


def any_of(phrases: str) -> str:
    """A pattern for any of `phrases`."""
    plain = re.sub(r"\((?!\?)", "(?:", " ".join(phrases.split()))
    spaced = (phrase.strip().replace(" ", r"\s+") for phrase in plain.split(","))
    return f"(?:{'|'.join(spaced)})"


# I ...
DO = any_of(
    r"""live, work, study, teach, own, love, like, hate, dislike, enjoy, prefer, adore, detest,
    loathe, play, speak, drive, ride, collect, eat, drink, smoke, cook, bake, sing, dance, swim,
    paint, draw, practi[cs]e, support, volunteer, belong, come from, grew up, stand, suffer,
    attend, follow a, loved, liked, enjoyed, hated, wear, commute, believe in,
    run (a|the|my|our|every|\d), use an?, keep, raise, breed, garden, hike, climb, ski, surf,
    knit, sew, travel, grow, used to, worked, help (?!me\b|you\b|with\b)\w+, write, restore,
    build, repair, lift, rent, share, care (for|about), trust, listen to,
    spend (my|our|most|a lot), weigh, graduated, studied, served, get along,
    get (to|a lot|my|very)\b, try to (eat|stay|live|be|keep|save|avoid|exercise|go|spend|get),
    miss (my|our|being|the), (?<!n't\s)(?<!not\s)know how to, design, explore, train, compete,
    manage, sell, make, hunt, fish, camp, bike, jog, sculpt, photograph, perform, coach, serve,
    handle, struggle, specialize, take (medication|insulin|pills|\d+\s?mg),
    take \w+(formin|pril|statin|azole|profen|cillin|etine|sartan|olol),
    do (\w+ing\b|yoga|karate|research|martial|crafts?|stand-up|all|most|a lot),
    go to (\w+ )?(school|college|church|university|mosque|synagogue|the gym), go (\w+ing|out)\b,
    looks? (like|after), feel (most|at home|good when|connected),
    wanted (a|to (be|become|serve|learn|help|work|study|have|go|do|see|make|play)),
    need (glasses|a wheelchair|a cane|insulin|medication|to (wear|take (my|insulin|medic))),
    want (kids|children|a (family|big|dog|cat)),
    want to (be an?|learn|become|visit|live|move|study|retire|travel|serve|own|write a),
    want to (work (as|for|in|with|at)|help (people|others|animals|kids)),
    want to have (kids|children|a family)"""
)
# I ... every week.
DO_OFTEN = any_of(
    "read, watch, listen, go, take, get up, wake up, meet, visit, call, walk, do, see"
)
HOW_OFTEN = any_of(
    r"""every, each, always, usually, often, a lot, mostly, mainly, \w+days, daily, weekly,
    once a, twice a, mornings, evenings, weekends, never, together, when"""
)
# I always ...
NO_HABIT = any_of("get, got, see, saw, said, thought, knew, asked, meant, heard")
# I have ...
DONE = any_of(
    r"""(?<=always\s)\w+, (?<=never\s)(?!heard|thought|seen (that|this))\w+, (?<=only\s)\w+, gone,
    built, written, won, lived, worked, taught, travell?ed, visited, played, studied, met, owned,
    raised, grown, learn(ed|t), moved, competed, published, performed, collected,
    done (a lot|some|many), seen, read (a lot|all|every|many|most), made, ridden, driven, flown,
    climbed, run (an?|two|three|several|many), had (an?|\w+s), got\s, decided to, wanted, loved,
    enjoyed, tried, become, lost, broken, caught, eaten"""
)
# I have been ...
BEEN = any_of(
    r"""an?, to, in, on, living, working, married, together, dating, studying, learning, playing,
    vegan, vegetarian, practi[cs]ing, training, taking, reading, watching, going,
    thinking (about|of), writing, saving, collecting, teaching, running, painting, cooking,
    baking, dancing, riding, doing, making, volunteering, interested, fascinated, drawn, single,
    sober, passionate, diagnosed, through, called, hiking, swimming, camping, singing, skating,
    \w+ing\b(?=.*\b(for|since)\s)"""
)
# I am ...
AM = any_of(
    r"""married, single, divorced, widowed, engaged, vegan, vegetarian, pescatarian, retired,
    unemployed, self-employed, pregnant, allergic, diabetic, dyslexic, colou?r-?blind, deaf,
    blind, (left|right)-handed, lactose, (afraid|scared|terrified) of, interested in, bilingual,
    (good|bad|terrible|great|better|best|amazing) (at|with), passionate about, fond of,
    obsessed with, fluent in, religious, jewish, muslim, catholic, buddhist, hindu, christian,
    atheist, gay, lesbian, bisexual, trans, autistic, shy, introverted, extroverted, twins,
    siblings, tall, short, adopted, diagnosed, intolerant, disabled, conservative, liberal,
    homeschooled, close (to|with), proud (to be|of), overweight, skinny, bald, blonde?,
    red-haired, big, of (the|\w+ (descent|origin)), on a diet, athletic, creative, outgoing,
    competitive, adventurous, lazy, clumsy, picky, organi[sz]ed, crafty, patient, hard-?working,
    ambitious, active, musical, artistic, spiritual, independent, addicted to,
    new (to|in|at|here), fascinated (by|with), in love, happy (being|with my|in my),
    excited (about my|to start), friends, best friends, neighbou?rs, rivals, roommates,
    originally, committed, dedicated, sensitive, strict,
    in the (army|navy|air force|military|\w+ grade|process of),
    in (college|high school|middle school),
    in (university|school|a (band|choir|relationship|wheelchair))"""
)
# I am always ...
AM_ALWAYS = any_of(
    """looking, up for, trying, on, open, learning, willing, making, playing, busy, interested,
    been"""
)
# I am ... these days.
AM_DOING = any_of(
    r"""learning, studying, training, working (as|at|for|in|on my|with|out), living, teaching,
    raising, dating, expecting, attending, serving, preparing for, homeschooling, hoping to,
    saving, renovating, restoring, writing (a|my),
    taking (an?\b|college|classes|lessons|care|\w+ (class|lesson)s?),
    looking for (work|love|an? (new )?(job|house|home|apartment|flat|roommate)),
    looking for an? (wife|husband|partner|girlfriend|boyfriend),
    trying to (lose|get (in|into|better|healthy|pregnant)|become|save|eat|quit|stay|be),
    reading\s(?!your|this|that|the (docs|manual))"""
)
# I am ..., and soon no longer.
AM_NOW = any_of(
    r"""
    on (the|an?|my|our) (train|bus|plane|phone|way|road|call|break|metro|subway|tram|boat|ferry),
    on (the|an?|my|our) (flight|couch|sofa|bench|platform),
    at (the|an?|my) (airport|station|supermarket|gym|doctor's|dentist('s)?|office|store|shop|mall),
    at (the|an?|my) (bank|hospital|restaurant|caf[e\u00e9]|bar|beach|park|bus stop|desk),
    in (an?|the) (meeting|car|taxi|queue|lecture|class|train|kitchen|shower|hurry|waiting room),
    in (?-i:[A-Z])\w+, waiting for, stuck, about to, late\b, running late, hungry, tired, sick\b,
    ill\b, bored, sleepy, exhausted, busy\b, cooking, debugging, packing, heading,
    having (lunch|dinner|breakfast), writing an? (e-?mail|report|essay|script|test),
    working on (an?|the|this|it)\b"""
)
# My sister ...
OTHERS_DO = any_of(
    r"""is, are, was, were, has, have, had, lives?, works?, likes?, loves?, hates?, dislikes?,
    enjoys?, prefers?, plays?, speaks?, studies, study, teach(es)?, owns?, died, passed away,
    comes? from, got, moved, turned, turns, go, goes, eats?, drinks?, drives?, isn't, aren't,
    wasn't, hasn't, doesn't, don't, didn't, does, do, did, can't, cannot, can, used to, grew up,
    runs?, sings?, paints?, collects?, bought, retired, married, visits?, calls?, sleeps?, barks?,
    suffers?, weighs?, starts?, ends?, makes?, made, practi[cs]es?, leaves?, left, wants?, helps?,
    gives?, gave, takes?, took, broke, opens?, grows?, cooks?, bakes?, spent, loved, lived,
    worked, played, met, raised, taught, came, went, served, always, never, also, cheated,
    divorced, wanted, hated, liked, serves?, travels?, raise, supports?, stole"""
)
# I ... once.
DID = any_of(
    r"""went (to|on|back|skiing|hiking|camping|sailing|out|for), visited, bought, moved,
    graduated, married, adopted, met\s, lost (my|our|a)\b, won(?!'), joined, broke (my|up|an?),
    became, quit, left, sold (my|our|the), celebrated, flew, travell?ed, attended, retired,
    gave birth,
    got (married|engaged|divorced|promoted|fired|an?\b|the job|my\b|our\b|back from|into),
    started (a|my|our|out|school|university|college|as|at|\w+ing),
    finished (my|our|school|university|college), passed (my|the),
    ran (a|my|the)\b[\w\s]*\bmarathon, learn(ed|t) (to|how|a), saw (my|our|an?\s), turned \d+,
    named, planted, published, inherited, stopped \w+ing, gave up, signed up, spent, painted,
    had (an?|my|our)\b, decided to,
    was (promoted|fired|hired|diagnosed|robbed|baptised|arrested|injured), played, lived, taught,
    caught, cooked, baked, hiked, climbed, rode, drove, performed, competed, majored, dropped out,
    volunteered, hurt, injured, rescued, dated, raised, trained, swam, watched, ate, photographed,
    served, enlisted, took (up|part|an?|my|some|the), made (an?|some|my), read an?\b, used my,
    built (an?|my|our)"""
)
# My sister ... once.
OTHERS_DID = any_of(
    r"""died, passed away, moved, got (married|engaged|divorced|a), gave birth, graduated,
    retired, turned \d+, was born, had (a|an|his|her)\s, broke (his|her|my|the|up)"""
)
# I am going to ..., which is no plan.
NO_PLAN = any_of(
    r"""have\b, need, try\b, check, look, see\b, say, ask, assume, use\b, the (gym|store|shop),
    be (able|ok|fine|sick), miss\b, stop\b, bed\b, sleep\b"""
)
