"""A robot on one page, without server and network: `share(robot).save("arm.html")`; in notebooks: `view(robot)`."""

from armdyn.webpage.notebook_widget import view
from armdyn.webpage.shared_page import share

__all__ = ["share", "view"]
