// Markdown that means harm. `FOREIGN` stands for the address of another server, which must never be
// asked for anything.

export const HOSTILE = {
  script: "<script>pwned()</script>",
  "script in a paragraph": "text <script>pwned()</script> text",
  "image with a handler": "<img src=x onerror=pwned()>",
  "image with a foreign source": "<img src='FOREIGN/a.png' alt='the picture'>",
  "markdown image": "![the picture](FOREIGN/b.png)",
  "image in a link": "[![the picture](FOREIGN/c.png)](FOREIGN/page)",
  "srcset and lazy sources":
    "<img srcset='FOREIGN/d.png 1x' data-src='FOREIGN/e.png' alt=z><picture><source srcset='FOREIGN/f.png'></picture>",
  "picture from this server": "![me](/chat)",
  "link to this server": "[log](/chat) <a href='//127.0.0.1/x'>y</a> [z](#composer-text)",
  "svg picture":
    "![v](data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0icHduZWQoKSIvPg==)",
  "javascript link": "[click](javascript:pwned())",
  "javascript link in disguise":
    "<a href='java&#10;script:pwned()'>click</a> <a href=' &#1;javascript:pwned()'>click</a>",
  "data link": "[click](data:text/html,<script>pwned()</script>)",
  "reference link": "[click][r]\n\n[r]: javascript:pwned()",
  "link that opens here": "<a href='FOREIGN/x' target=_top onclick=pwned() ping='FOREIGN/ping'>click</a>",
  frame: "<iframe src='FOREIGN/frame'></iframe><iframe srcdoc='<script>parent.pwned()</script>'></iframe>",
  form: "<form action='FOREIGN/form'><input name=a autofocus onfocus=pwned()><button formaction='FOREIGN/go'>go</button><textarea>t</textarea></form>",
  style:
    "<style>@import 'FOREIGN/i.css'; * { display: none }</style><p style=\"position:fixed;background:url(FOREIGN/bg.png)\">styled</p>",
  svg: "<svg onload=pwned()><image href='FOREIGN/s.png'/><use href='FOREIGN/u.svg#a'/><animate onbegin=pwned() attributeName=x dur=1s /></svg>",
  "mathml confusion":
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=pwned()&gt;">',
  "noscript confusion": '<noscript><p title="</noscript><img src=x onerror=pwned()>">',
  template: "<template><img src=x onerror=pwned()></template>",
  media:
    "<video src='FOREIGN/v.mp4' poster='FOREIGN/p.png' autoplay onloadstart=pwned()></video><audio src='FOREIGN/a.mp3' autoplay></audio>",
  object:
    "<object data='FOREIGN/o'></object><embed src='FOREIGN/e'><base href='FOREIGN/'><link rel=stylesheet href='FOREIGN/l.css'><meta http-equiv=refresh content='0;url=FOREIGN/'>",
  "names that clobber": "<a id=body name=cookie href='FOREIGN/n'>x</a><p id=composer-text class='send banner'>x</p>",
  "handler on details": "<details open ontoggle=pwned()><summary>s</summary>t</details>",
  "custom element": "<l3-composer onclick=pwned()></l3-composer>",
  "code that is markup": "```html\n<img src=x onerror=pwned()>\n```\n\n`<script>pwned()</script>`",
  "code with a hostile language": '```x"onmouseover=pwned()\n1\n```',
  "title that breaks out": '[a](FOREIGN/t "\\"><img src=x onerror=pwned()>")',
  "table with a handler": "| <b onmouseover=pwned()>a</b> |\n|---|\n| <img src=x onerror=pwned()> |",
  "unclosed everything": "<b><i><a href='FOREIGN/q'><img src=x onerror=pwned() ",
};

/** Elements that must never come out, and attributes (by name) and addresses (by scheme) neither. */
export const FORBIDDEN_ELEMENTS =
  "script,style,iframe,form,input,textarea,select,svg,math,template,video,audio,object,embed,base,link,meta,source,img:not([src^='data:image/']),l3-composer,[id],[name],[style],[ping],[srcset],[formaction]";
