"""What the server answers to phones in a room, and to the lecturer's page.

/room                  a page that asks for the code
/room/file/NAME        the script and the styles of the phones' page
/room/CODE             the page of a phone, which gets a cookie as its name in the room
/room/CODE/now         what the phone shows
/room/CODE/guess       takes a guess: the number of the question, and the index of the option
/room/CODE/count       the numbers for the lecturer, who sends the room's key
/room/CODE/close       ends the guesses, then answers like `count`
/room/CODE/leave       makes phones wait, because the lecturer's screen shows something else
"""

import json
from collections.abc import Awaitable, Callable
from functools import cache
from html import escape
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from headlight.pages.streamlit_fixes.paths import public
from headlight.wings.room.rooms import ROOMS, Room, lecturers_room

NAME = "room"  # the beginning of all paths
COOKIE = "headlight_phone"
LECTURER = "headlight_room"  # the cookie of a lecturer: the room's code and key
KEY = "x-room-key"  # the HTTP header with the lecturer's key
LONGEST = 200  # the most bytes of a guess
FOLDER = Path(__file__).parent / "phone"
HEADERS = {"cache-control": "no-store"}
NO_ROOM = "There is no room with this code, or it has ended. Ask for the code on the screen."
NO_GUESS = "A guess has the number of the question and the index of an answer."
KINDS = {"phone.js": "text/javascript", "phone.css": "text/css"}


@cache
def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def page(name: str, status: int = 200, **words: str) -> HTMLResponse:
    """Return an HTML page of the folder, with words put into its places, such as {BASE}."""
    text = text_of(name)
    for place, word in ({"base": public(f"/{NAME}")} | words).items():
        text = text.replace(f"{{{place.upper()}}}", escape(word))
    return HTMLResponse(text, status, HEADERS)


async def ask_code(request: Request) -> Response:
    """Return the page that asks for a code, or redirect to the room whose code was typed."""
    typed = request.query_params.get("code", "")
    code = typed.strip().upper()
    if code in ROOMS:
        return RedirectResponse(public(f"/{NAME}/{code}"), 303, HEADERS)
    return page("code.html", 404 if code else 200, said=NO_ROOM if code else "")


async def enter(request: Request) -> Response:
    """Return the page of a phone; a new phone gets a name in the room, as a cookie."""
    code = request.path_params["code"]
    if (room := ROOMS.get(code.upper())) is None:
        return page("code.html", 404, said=NO_ROOM)
    path = public(f"/{NAME}/{room.code}")
    if code != room.code:  # the cookie's path has the code in capitals, so the address needs it too
        return RedirectResponse(path, 303, HEADERS)
    answer = page("phone.html", code=code)
    if request.cookies.get(COOKIE) not in room.seen:
        try:
            answer.set_cookie(COOKIE, room.enter(), path=path, httponly=True, samesite="lax")
        except ValueError as error:
            return page("code.html", 503, said=str(error))
    return answer


async def file(request: Request) -> Response:
    """Return the script or the styles of the phone's page."""
    name = request.path_params["name"]
    if name not in KINDS:
        return refused(NO_ROOM, 404)
    return Response(text_of(name), media_type=KINDS[name], headers=HEADERS)


def refused(sentence: str, status: int) -> JSONResponse:
    return JSONResponse({"said": sentence}, status, HEADERS)


async def now(request: Request) -> Response:
    """Answer a phone that asks what to show."""
    if (room := ROOMS.get(request.path_params["code"])) is None:
        return refused(NO_ROOM, 404)
    return shown(room, request)


def shown(room: Room, request: Request) -> Response:
    try:
        return JSONResponse(room.shown_to_phone(request.cookies.get(COOKIE, "")), headers=HEADERS)
    except ValueError as error:
        return refused(str(error), 403)


async def guess(request: Request) -> Response:
    """Take a phone's guess, and return what the phone shows now."""
    if (room := ROOMS.get(request.path_params["code"])) is None:
        return refused(NO_ROOM, 404)
    try:
        number, option = read_guess(await body(request))
        room.guess(request.cookies.get(COOKIE, ""), number, option)
    except ValueError as error:
        return refused(str(error), 409)
    return shown(room, request)


async def body(request: Request) -> bytes:
    """Return the body of a request; raises ValueError as soon as it is too long for a guess."""
    sent = b""
    async for part in request.stream():
        sent += part
        if len(sent) > LONGEST:
            raise ValueError(NO_GUESS)
    return sent


def read_guess(sent: bytes) -> tuple[int, int]:
    """Return the number of a question and the index of an option; other data raises ValueError."""
    try:
        match json.loads(sent):
            case {"number": int(number), "option": int(option)}:
                return number, option
    except (ValueError, RecursionError):
        pass
    raise ValueError(NO_GUESS)


def to_lecturer(act: Callable[[Room], None]) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler for the lecturer's page: it acts on the room and returns its numbers."""

    async def answer(request: Request) -> Response:
        room = lecturers_room(request.path_params["code"], request.headers.get(KEY, ""))
        if room is None:
            return refused(NO_ROOM, 404)
        act(room)
        response = JSONResponse(room.shown_to_lecturer(), headers=HEADERS)
        if request.cookies.get(LECTURER) != (pair := f"{room.code} {room.key}"):
            response.set_cookie(LECTURER, pair, path=public("/"), httponly=True, samesite="strict")
        return response

    return answer


app = Starlette(
    routes=[
        Route(public(path), answer, methods=[method])
        for path, answer, method in (
            (f"/{NAME}", ask_code, "GET"),
            (f"/{NAME}/file/{{name:str}}", file, "GET"),
            (f"/{NAME}/{{code:str}}", enter, "GET"),
            (f"/{NAME}/{{code:str}}/now", now, "GET"),
            (f"/{NAME}/{{code:str}}/guess", guess, "POST"),
            (f"/{NAME}/{{code:str}}/count", to_lecturer(Room.show), "GET"),
            (f"/{NAME}/{{code:str}}/close", to_lecturer(Room.close_guesses), "POST"),
            (f"/{NAME}/{{code:str}}/leave", to_lecturer(Room.hide), "POST"),
        )
    ]
)
