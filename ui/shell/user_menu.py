"""User menu: the name of the user and the way out, where people sign in on a page of ours."""

from collections.abc import Callable

import gradio as gr

from ui.parts.escaping import as_html
from ui.parts.event_handlers import user_of

# Gradio's program says nothing where an event is turned away. What was typed stays there.
SIGNED_OUT = """
<script>
const ask = window.fetch;
window.fetch = async (...request) => {
  const answer = await ask(...request);
  if ([401, 403].includes(answer.status) && !document.querySelector('#signed-out')) {
    const notice = document.createElement('p');
    notice.id = 'signed-out';
    notice.setAttribute('role', 'alert');
    notice.innerHTML = 'You are not signed in here any more. <a href="/">Load the page again</a>';
    document.body.append(notice);
  }
  return answer;
};
</script>
"""


CHANGE_PASSWORD = '<a href="/password">Change password</a>'


def user_menu(*, passwords: bool) -> Callable[[gr.Request], str]:
    """Make the handler that draws the user's name and a form that ends the session.

    The form needs no script. With `passwords` there is a link to where the user changes their own.
    """

    def who(request: gr.Request) -> str:
        return (
            '<div class="who"><p><span class="quiet">Signed in as</span> '
            f"<strong>{as_html(user_of(request))}</strong></p>"
            f"{CHANGE_PASSWORD if passwords else ''}"
            '<form method="post" action="/sign-out"><button>Sign out</button></form></div>'
        )

    return who
