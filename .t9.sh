timeout 200 .venv/bin/python -m pytest tests/python/view/view_video_test.py -q -x 2>&1 | grep -E "^E|Error|error" | head -20
