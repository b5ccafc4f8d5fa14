"""Who uses the page, and the way out, where people sign in on a page of ours."""

import gradio as gr

from ui.events import user_of
from ui.text import as_html

# Gradio's program says nothing where an event is turned away. What was typed stays there.
SIGNED_OUT = """
<script>
const ask = window.fetch;
window.fetch = async (...request) => {
  const answer = await ask(...request);
  if ([401, 403].includes(answer.status) && !document.querySelector('#signed-out')) {
    const told = document.createElement('p');
    told.id = 'signed-out';
    told.setAttribute('role', 'alert');
    told.innerHTML = 'You are not signed in here any more. <a href="/">Load the page again</a>';
    document.body.append(told);
  }
  return answer;
};
</script>
"""


def who(request: gr.Request) -> str:
    """The user's name and a form that ends the session; the form needs no script."""
    return (
        '<div class="who"><p><span class="quiet">Signed in as</span> '
        f"<strong>{as_html(user_of(request))}</strong></p>"
        '<form method="post" action="/sign-out"><button>Sign out</button></form></div>'
    )
