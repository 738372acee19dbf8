"""Keys that give themselves away by whose they are: `clockify_key = …`, `pdfshift ACCESS …`, `"shodan-token": "…"`.

A service by its name, a word for a secret behind it, and a run of letters and digits as long as keys of that service.
The words are looked for, and only the little that stands around each is read, so that time is linear.
"""

from __future__ import annotations

import itertools

from codexmem.kernel.model.secret_tokens import DIGITS, WORD, run_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem.kernel.model.secret_tokens import Span

WORDS = ("secret", "private", "access", "key", "token", " pat ", "_pat=", "_pat ")
# The fewest characters of a key, and the services whose keys have as many.
_SERVICES = (
    (10,
     "debounce eagleeyenetworks ipinfo linkedin mockaroo myintervals snowflake uclassify"),
    (16,
     "asana coinlib convertapi formbucket formcraft metrilo twitter"),
    (20,
     "apollo bugherd carboninterface cloudsight codacy convertkit databox eraser ethplorer eventbrite finnhub "
     "fxmarket getemail hiveage honeycomb karmacrm mandrill nasdaq proxycrawl splunk statuscake swiftype tefter "
     "thingsboard timezoneapi travis"),
    (24,
     "atlassian bannerbear baremetrics betterstack browshot centralstationcrm cloverly d7network exchangerate "
     "flightapi glassnode happyscribe jira mailmodo messagebird ngrok nimble nylas oanda pollsapi replyio "
     "requestfinance scrapeowl screenshotapi sendbird shipday storyblok timecamp tradier twitch userflow vbout "
     "vercel visualcrossing worldweather zapier"),
    (32,
     "adopat airbrake aiven alchemy anypoint apifonica apify apilayer apimetrics apitemplate appfollow appointedd "
     "appoptics appsynergy assemblyai atera atlas audd auth0 autoklose autopilot avaza aviationstack axonaut "
     "ayrshare azure beebole besnappy besttime bitbar bitbucket bitcoinaverage bitly blitapp blocknative blogger "
     "bombbomb boostnote borgbase brandfetch bscscan buddyns budibase bugsnag buttercms caflou calendarific "
     "calendly campayn canny capsulecrm chatbot chatfuel checio checklyhq clarifai clearbit cliengo clockify "
     "closecrm cloudconvert cloudflare cloudmersive cloudplan clustdoc codaio codemagic codequiry coinapi coinbase "
     "coinlayer collect2 commercejs confluent conversiontools countrylayer courier coveralls cpdev crowdin "
     "cryptocompare currencyfreaks currencylayer currencyscoop currentsapi dailyco dandelion datadog datagov "
     "deepai deepgram delighted detectify detectlanguage diffbot diggernaut disqus ditto docparser dronahq droneci "
     "dynalist dyspatch ecostruxureit edenai elastic etherscan exchangerates extractorapi facebook fastly feedier "
     "fetchrss fileio finage financialmodelingprep finicity fiou flickr formio foursquare fulcrum fullstory "
     "geckoboard geoapify geocodify getgeoapi getgist getresponse gitter goodday graphhopper gtmetrix guardianapi "
     "gumroad gyazo hellosign helpcrunch helpscout hereapi heroku holidayapi html2pdf hunterio hybiscus iconfinder "
     "iexapis iexcloud imagekit imagga impala infura insightly instabot intercom interseller intrinio ip2location "
     "ipapi ipgeolocation ipifi ipinfodb ipquality ipstack jumpcloud jupiterone juro kafka kickbox klaviyo "
     "klipfolio knapsackpro kontent kylas languagelayer leadfeeder lemlist lemonsqueezy lendflow lexigram "
     "linenotify linkpreview livestorm loadmill loginradius logz lokalise loyverse lunchmoney madkudu mailboxlayer "
     "mailchimp mailerlite mailgun mailjet mailsac mapquest marketstack mavenlink mediastack meistertask mesibo "
     "mindmeister mixmax monday mongodb monkeylearn moonclerk moosend moralis netlify newrelic newsapi newscatcher "
     "nftport nuget numverify oddsapi omnisend onesignal onfleet oopspam opencagedata openuv opsgenie optimizely "
     "overloop owlbot packagecloud pandadoc pandascore paperform paralleldots particle partnerstack pastebin "
     "pattoken paydirtapp paymoapp paymongo paypal pdflayer pdfshift peopledatalabs pipedream pipedrive pixabay "
     "planyo podio polygon positionstack postageapp postmark powrbot prodpad pushbullet qualaroo qubole rapidapi "
     "rawg reachmail rebrandly recaptcha restpack ritekit rocketreach rockset route4me salesblink salescookie "
     "salesflare scaleway scraperapi scraperbox scrapestack scrapfly scrapingant scrapingbee screenshotlayer "
     "scrutinizer securitytrails selectpdf sentry serphouse serpstack sherpadesk shodan shotstack shutterstock "
     "signaturit signupgenius sigopt simfin simplesat simplynoted simvoly snipcart snyk sonar sparkpost speechtext "
     "spoonacular sportsmonk spotify squarespace sslmate statuspage statuspal stitchdata stockdata storecove "
     "stormboard stormglass storychief stripo supernotes surveysparrow survicate tallyfy tatum taxjar "
     "technicalanalysisapi teletype theoddsapi ticketmaster tickettailor tiingo tmetric todoist toggl tomtom "
     "transferwise travelpayouts trello twelvedata twilio tyntec unplugg unsplash upcdatabase uplead uptimerobot "
     "upwave urlscan unplu userstack vagrant vatlayer verimail veriphone versioneye viewneo virustotal voicegain "
     "voodoosms vpnapi vultr vyte walkscore weatherbit weatherstack web3 webflow webscraper webscraping whoxy "
     "wistia worksnaps workstack worldcoinindex wrike yandex yelp youneedabudget yousign zenkit zenrows zenscrape "
     "zeplin zerobounce zerotier zipcodeapi zipcodebase zonka"),
)  # fmt: skip
_LEAST = {name: least for least, names in _SERVICES for name in names.split()}
_LONGEST = max(map(len, _LEAST))
_SHORTEST = min(map(len, _LEAST))
_BEGINNINGS = frozenset(name[:_SHORTEST] for name in _LEAST)
_SIGNS = dict.fromkeys((code for code in range(128) if not chr(code).isalnum()), " ")
_ALPHABET = WORD + "-_.+/="
_BEFORE, _BEHIND = 40, 32  # characters in which the name stands before the word, and the key behind it
_DENSE = 32  # a word every so many characters is no text


def least_of(name: str) -> int:
    """The fewest characters of a key of the service that a name begins with; 0 for none."""
    if name[:_SHORTEST] not in _BEGINNINGS:
        return 0
    for end in range(min(len(name), _LONGEST), _SHORTEST - 1, -1):
        if least := _LEAST.get(name[:end]):
            return least
    return 0


def kind_of_key(key: str) -> str | None:
    """The kind of secret that the key of a JSON value announces by a service's name."""
    flat = "".join(each for each in key[:80].lower() if each.isalnum())
    return "api-key" if flat.endswith("key") and least_of(flat) else None


def spans(text: str, passes: int = 1) -> Iterator[Span]:
    """The keys behind names of services; of a text that is looked through several times, each takes its share."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.replace("\u0130", "i").lower()
    left = (1000 + len(text) // _DENSE) // passes
    for word in WORDS:
        at = lowered.find(word)
        while at >= 0 and left:
            left -= 1
            end = at + len(word)
            if (least := _service(lowered[max(0, at - _BEFORE) : at])) and (found := _key(text, end, least)):
                yield (*found, "api-key")
                end = max(end, found[1])
            at = lowered.find(word, end)


def _service(before: str) -> int:
    """The fewest characters of a key of the service that is named on this line."""
    words = before.rpartition("\n")[2].translate(_SIGNS).split()
    for each in (*words, *(one + other for one, other in itertools.pairwise(words))):
        if least := least_of(each):
            return least
    return 0


def _key(text: str, end: int, least: int) -> tuple[int, int] | None:
    """Where something random as long as a key begins and ends."""
    place = end
    while place < min(len(text), end + _BEHIND):
        if text[place] in "\r\n(){}":
            return None
        if text[place] not in _ALPHABET:
            place += 1
            continue
        stop = run_end(text, place, _ALPHABET)
        begin = place + len(text[place : place + 3]) - len(text[place : place + 3].lstrip("-_.=/+"))
        value = text[begin : min(stop, begin + 256)].rstrip(".=")
        if len(value) >= least and _is_random(value):
            return begin, stop
        place = stop
    return None


def _is_random(value: str) -> bool:
    """Whether it looks drawn: digits among letters, or one long word of no sentence."""
    if value.isdigit():
        return len(value) >= 16
    digits = len(value) - len(value.translate(_NO_DIGITS))
    return digits * 16 >= len(value) if digits else value.isalnum() and len(value) >= 20 and value.lower() != value


_NO_DIGITS = dict.fromkeys(map(ord, DIGITS))
