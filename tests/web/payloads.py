"""One hundred texts that would run a script, or call another server, wherever a page took text for anything but text.

`HIT` stands for a call that tells the test, with the number of the payload. Some need a page that writes markup, some
one that builds attributes, addresses, styles, templates or JSON from text; none does anything as text.
"""

from __future__ import annotations

FOREIGN = "http://192.0.2.1"  # an address that documents use and nobody answers at

_MARKUP = r"""
<script>HIT</script>
<SCRIPT>HIT</SCRIPT>
<script >HIT</script >
<script type="text/javascript">HIT</script>
<script type=module>HIT</script>
<script/x>HIT</script>
<script>/*<!--*/HIT//--></script>
<scr<script>ipt>HIT</scr</script>ipt>
<script src="data:text/javascript,HIT"></script>
<svg><script>HIT</script></svg>
<svg><script href="data:text/javascript,HIT"></script></svg>
<img src=x onerror=HIT>
<img src=x onerror="HIT">
<img src='x' onerror='HIT'>
<IMG SRC=x ONERROR=HIT>
<img/src=x/onerror=HIT>
<img src onerror=HIT>
<img src=x onerror=&#95;&#95;hit&#40;NUMBER&#41;>
<img src=x onerror=self['__h'+'it'](NUMBER)>
<img src=x onerror=eval('HIT')>
<img src=x onerror=setTimeout`HIT`>
<img srcset=x onerror=HIT>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" onload=HIT onerror=HIT>
<image src=x onerror=HIT>
<svg onload=HIT>
<svg/onload=HIT>
<svg><g onload=HIT></g></svg>
<svg><animate onbegin=HIT attributeName=x dur=1s></svg>
<svg><set onbegin=HIT attributeName=x dur=1s></svg>
<svg><a><animate attributeName=href values="javascript:HIT"/><text y=9>x</text></a></svg>
<svg><image href=x onerror=HIT></svg>
<svg><foreignObject><img src=x onerror=HIT></foreignObject></svg>
<svg><style><img src=x onerror=HIT></style></svg>
<math><mtext></p><img src=x onerror=HIT></mtext></math>
<math><mi xlink:href="javascript:HIT">x</mi></math>
<body onload=HIT>
<iframe src="javascript:parent.__hit(NUMBER)"></iframe>
<iframe srcdoc="<script>parent.__hit(NUMBER)</script>"></iframe>
<iframe onload=HIT></iframe>
<iframe src="data:text/html,<script>parent.__hit(NUMBER)</script>"></iframe>
<object data="javascript:HIT" onerror=HIT></object>
<object data="x" onerror=HIT></object>
<embed src="javascript:HIT">
<video src=x onerror=HIT></video>
<video><source onerror=HIT></video>
<video poster=x onloadstart=HIT src=x></video>
<audio src=x onerror=HIT></audio>
<audio onloadstart=HIT src=x></audio>
<input autofocus onfocus=HIT>
<textarea autofocus onfocus=HIT></textarea>
<select autofocus onfocus=HIT></select>
<button autofocus onfocus=HIT>x</button>
<details open ontoggle=HIT><summary>x</summary></details>
<marquee onstart=HIT>x</marquee>
<style>@keyframes p{}</style><b style="animation:p 1s" onanimationstart=HIT>x</b>
<b style="transition:all 1s" ontransitionrun=HIT tabindex=0>x</b>
<div onpointerenter=HIT onmouseover=HIT style="position:fixed;inset:0">x</div>
<link rel=stylesheet href="data:text/css,x" onload=HIT>
<link rel=stylesheet href=x onerror=HIT>
<meta http-equiv=refresh content="0;url=javascript:HIT">
<base href="javascript:HIT//">
<form action="javascript:HIT"><button>x</button></form>
<form><button formaction="javascript:HIT">x</button></form>
<a href="javascript:HIT">x</a>
<a href="JaVaScRiPt:HIT">x</a>
<a href="&#106;avascript:HIT">x</a>
<a href="java&Tab;script:HIT">x</a>
<a href="data:text/html,<script>HIT</script>">x</a>
<a href="x" onclick=HIT onfocus=HIT autofocus>x</a>
<!--><img src=x onerror=HIT>-->
<!--<img src="--><img src=x onerror=HIT>">
<![CDATA[><img src=x onerror=HIT>]]>
<title><img src=x onerror=HIT></title><img src=x onerror=HIT>
<textarea></textarea><img src=x onerror=HIT></textarea>
<noscript><p title="</noscript><img src=x onerror=HIT>"></noscript>
<template><img src=x onerror=HIT></template><img src=x onerror=HIT>
<table><td><img src=x onerror=HIT></table>
<xmp><p title="</xmp><img src=x onerror=HIT>"></xmp>
<custom-element onfocus=HIT tabindex=0 autofocus>x</custom-element>
"""
_BREAKING = r"""
"><img src=x onerror=HIT>
'><img src=x onerror=HIT>
`><img src=x onerror=HIT>
" autofocus onfocus=HIT x="
</title><script>HIT</script>
</style><script>HIT</script>
</script><script>HIT</script>
--><script>HIT</script>
"};HIT;//
'-HIT-'
${HIT}
{{constructor.constructor('HIT')()}}
javascript:HIT
"""
_OTHER = rf"""
[x](javascript:HIT)
[x](<java&#x0A;script:HIT>)
![x]({FOREIGN}/p.png "x")
<img src="{FOREIGN}/p.png" onload=HIT>
<link rel=stylesheet href="{FOREIGN}/p.css">
<b style="background:url({FOREIGN}/p.png)">x</b>
{{"__proto__": {{"innerHTML": "<img src=x onerror=HIT>"}}}}
<a href="//192.0.2.1" ping="{FOREIGN}/p" id=root name=root>x</a>
"""


def _numbered() -> tuple[str, ...]:
    lines = [line for line in (_MARKUP + _BREAKING + _OTHER).splitlines() if line]
    return tuple(
        line.replace("HIT", f"__hit({number})").replace("NUMBER", str(number)) for number, line in enumerate(lines)
    )


PAYLOADS = _numbered()
