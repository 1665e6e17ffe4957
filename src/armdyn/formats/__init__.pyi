from armdyn.errors import ModelWarning as ModelWarning
from armdyn.formats.load_save import changes as changes
from armdyn.formats.load_save import FORMATS as FORMATS
from armdyn.formats.load_save import load as load
from armdyn.formats.load_save import read as read
from armdyn.formats.load_save import save as save
