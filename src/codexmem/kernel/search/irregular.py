"""English words whose forms no rule of endings connects: each line is a word and its forms.

Without them "bought" is not found by "buy". Forms that are also other words ("left", "found", "saw", "felt") are here
on purpose: as verbs they are far more frequent.
"""

_LINES = """
    go went gone goes
    buy bought
    bring brought
    think thought
    teach taught
    catch caught
    fight fought
    seek sought
    sell sold
    tell told
    say said
    make made
    take took taken
    give gave given
    get got gotten
    see saw seen
    come came
    become became
    begin began begun
    run ran
    swim swam swum
    sing sang sung
    drink drank drunk
    ring rang rung
    win won
    meet met
    feel felt
    keep kept
    sleep slept
    leave left
    lose lost
    send sent
    spend spent
    build built
    lend lent
    bend bent
    hold held
    hear heard
    find found
    stand stood
    understand understood
    write wrote written
    ride rode ridden
    drive drove driven
    rise rose risen
    choose chose chosen
    break broke broken
    speak spoke spoken
    wake woke woken
    steal stole stolen
    freeze froze frozen
    fly flew flown
    grow grew grown
    know knew known
    throw threw thrown
    draw drew drawn
    show shown
    eat ate eaten
    fall fell fallen
    forget forgot forgotten
    hide hid hidden
    bite bit bitten
    pay paid
    lay laid
    lead led
    feed fed
    sit sat
    shoot shot
    light lit
    stick stuck
    strike struck
    swing swung
    hang hung
    dig dug
    wear wore worn
    tear tore torn
    swear swore sworn
    bear bore born borne
    blow blew blown
    deal dealt
    mean meant
    dream dreamt
    learn learnt
    burn burnt
    shake shook shaken
    child children
    person people
    man men
    woman women
    foot feet
    tooth teeth
    mouse mice
    goose geese
    wife wives
    life lives
    knife knives
    leaf leaves
    half halves
    self selves
"""

BASE: dict[str, str] = {
    form: word for line in _LINES.strip().splitlines() for word, *forms in [line.split()] for form in forms
}
